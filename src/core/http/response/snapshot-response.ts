import { isDeadline, withDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Coding } from '../../reads/representations/encoder.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Exchange } from '../exchange.ts';
import { acceptsIdentity, type Codings, chooseCoding } from '../request/negotiate.ts';
import { namesTag } from './caching.ts';
import type { HttpResponse } from './send.ts';

const MEDIA_TYPE = 'application/json; charset=utf-8';

const NOT_COMPRESSED = 'The answer could not be compressed in time. Accept it uncompressed, or try again later.';

/** How a snapshot is sent. */
export interface SnapshotResponseOptions {
  readonly representations: Representations;
  readonly codings: Codings;
  /** Smaller bodies are not compressed. */
  readonly compressMinBytes: number;
  /** Deadline of a response since the beginning of its request, compression included. */
  readonly readDeadlineMs: number;
  readonly events: Events;
  /** Returns the headers of the snapshot, names and values by turns; called when it is sent. */
  readonly headers: (snapshot: Snapshot) => string[];
}

/** Returns the response with a snapshot, or 304 where the caller has it. */
export async function respondWithSnapshot(
  exchange: Exchange,
  held: Pick<Load, 'snapshot' | 'cached'>,
  options: SnapshotResponseOptions,
): Promise<HttpResponse> {
  const { codings, compressMinBytes, headers } = options;
  const { snapshot } = held;
  const { ifNoneMatch } = exchange.fields;
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, snapshot.etag)) {
    return { status: 304, headers: headers(snapshot), body: undefined };
  }
  const plain = () => ({
    status: 200,
    headers: [...headers(snapshot), 'Content-Type', MEDIA_TYPE],
    body: snapshot.bytes,
  });
  const coding = chooseCoding(codings, snapshot.bytes.length, compressMinBytes);
  if (coding === undefined) return plain();
  const body = snapshot.representations[coding] ?? (await encodeInTime(exchange, held, coding, options));
  if (body === undefined) return plain();
  return {
    status: 200,
    headers: [...headers(snapshot), 'Content-Type', MEDIA_TYPE, 'Content-Encoding', coding],
    body,
  };
}

/**
 * Compresses a snapshot. Where that takes longer than the deadline of the read, returns `undefined`, or throws `overloaded` if
 * the caller does not accept the bytes uncompressed.
 */
async function encodeInTime(
  exchange: Exchange,
  held: Pick<Load, 'snapshot' | 'cached'>,
  coding: Coding,
  { representations, codings, readDeadlineMs, events }: SnapshotResponseOptions,
): Promise<Buffer | undefined> {
  const leftMs = Math.max(exchange.begun + readDeadlineMs - performance.now(), 1);
  try {
    return await withDeadline(leftMs, exchange.signal, async (signal) => representations.encoded(held, coding, signal));
  } catch (error) {
    if (!isDeadline(error)) throw error;
    events.boundReached?.({ bound: 'http.maxCompressions' });
    if (acceptsIdentity(codings)) return undefined;
    throw new GatewayError('overloaded', { detail: NOT_COMPRESSED, reason: 'not compressed in time' });
  }
}
