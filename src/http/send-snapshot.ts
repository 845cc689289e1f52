import { compress } from '../snapshots/compress.ts';
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
  /** Items that the read left out. */
  readonly dropped: number;
}

/** Answers with a snapshot, or with 304 where the caller has it. */
export async function sendSnapshot(
  ctx: Context,
  { bytes, etag }: Snapshot,
  { codings, compressMinBytes, dropped }: Delivery,
): Promise<void> {
  const { exchange } = ctx.state;
  const headers: Record<string, string> = {
    ETag: etag,
    Vary: 'Authorization, Accept-Encoding',
    'Cache-Control': 'private, no-cache',
  };
  if (dropped > 0) headers['Portico-Dropped-Items'] = String(dropped);
  const ifNoneMatch = ctx.req.headers['if-none-match'];
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) {
    exchange.outcome = 'not_modified';
    ctx.status = 304;
    ctx.set(headers);
    return;
  }
  headers['Content-Type'] = MEDIA_TYPE;
  const coding = chooseCoding(codings, bytes.length, compressMinBytes);
  if (coding !== undefined) headers['Content-Encoding'] = coding;
  const body = coding === undefined ? bytes : await compress(bytes, coding);
  exchange.outcome = 'ok';
  send(ctx, { status: 200, headers, body });
}
