import type { Load } from '../../snapshots/load.ts';
import type { Representations } from '../../snapshots/representations.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';
import type { Exchange } from '../exchange.ts';
import { namesTag } from '../request/conditional.ts';
import { type Codings, chooseCoding } from '../request/negotiate.ts';
import type { HttpResponse } from './send.ts';

const MEDIA_TYPE = 'application/json; charset=utf-8';

/** How a snapshot is sent. */
export interface SnapshotResponseOptions {
  readonly representations: Representations;
  readonly codings: Codings;
  /** Smaller bodies are sent in no coding. */
  readonly compressMinBytes: number;
  /** What stands with the snapshot, names and values by turns; asked when it is sent. */
  readonly headers: (snapshot: Snapshot) => string[];
}

/** The response that brings a snapshot, or 304 where the caller has it. */
export async function respondWithSnapshot(
  exchange: Exchange,
  held: Pick<Load, 'snapshot' | 'cached'>,
  { representations, codings, compressMinBytes, headers }: SnapshotResponseOptions,
): Promise<HttpResponse> {
  const { snapshot } = held;
  const { ifNoneMatch } = exchange.fields;
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, snapshot.etag)) {
    return { status: 304, headers: headers(snapshot), body: undefined };
  }
  const coding = chooseCoding(codings, snapshot.bytes.length, compressMinBytes);
  if (coding === undefined) {
    return { status: 200, headers: [...headers(snapshot), 'Content-Type', MEDIA_TYPE], body: snapshot.bytes };
  }
  const body = await representations.encoded(held, coding);
  return {
    status: 200,
    headers: [...headers(snapshot), 'Content-Type', MEDIA_TYPE, 'Content-Encoding', coding],
    body,
  };
}
