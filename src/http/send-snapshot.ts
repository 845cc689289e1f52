import type { Coding } from '../snapshots/compress.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { Context } from './context.ts';
import { namesTag } from './if-none-match.ts';
import { type Codings, chooseCoding, MEDIA_TYPE } from './negotiate.ts';
import { send } from './send.ts';

/** How a snapshot is sent. */
export interface Delivery {
  readonly codings: Codings;
  /** Smaller bodies are sent uncompressed. */
  readonly compressMinBytes: number;
  /** The bytes in another coding. */
  readonly encode: (coding: Coding) => Promise<Buffer>;
  /** What stands with the snapshot; asked when the answer is sent. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** Answers with a snapshot, or with 304 where the caller has it. */
export async function sendSnapshot(ctx: Context, { bytes, etag }: Snapshot, delivery: Delivery): Promise<void> {
  const { exchange } = ctx.state;
  const ifNoneMatch = ctx.req.headers['if-none-match'];
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) {
    exchange.outcome = 'not_modified';
    ctx.status = 304;
    ctx.set(delivery.headers());
    return;
  }
  const coding = chooseCoding(delivery.codings, bytes.length, delivery.compressMinBytes);
  const body = coding === undefined ? bytes : await delivery.encode(coding);
  exchange.outcome = 'ok';
  send(ctx, {
    status: 200,
    headers: {
      ...delivery.headers(),
      'Content-Type': MEDIA_TYPE,
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    },
    body,
  });
}
