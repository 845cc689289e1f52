import { isDeadline, withDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Coding } from '../../reads/representations/encoder.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Exchange } from '../exchange.ts';
import { acceptsIdentity, type Codings, chooseCoding } from '../request/negotiate.ts';
import type { HttpResponse } from './send.ts';

const MEDIA_TYPE = 'application/json; charset=utf-8';

const NOT_COMPRESSED = 'The answer could not be compressed in time. Accept it uncompressed, or try again later.';

/** One member of a list of entity tags (RFC 9110, section 8.8.3). A tag may hold a comma. */
const MEMBER = /[\t ]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y;

/** How a snapshot is sent. */
export interface SnapshotResponseOptions {
  readonly representations: Representations;
  readonly codings: Codings;
  /** Smaller bodies are not compressed. */
  readonly compressMinBytes: number;
  /** Deadline of a response since the beginning of its request, compression included. */
  readonly readDeadlineMs: number;
  readonly events: Events;
  /** Returns the headers of the snapshot, alternating names and values; called when it is sent. */
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
    events.limitReached?.({ bound: 'http.maxCompressions' });
    if (acceptsIdentity(codings)) return undefined;
    throw new GatewayError('overloaded', { detail: NOT_COMPRESSED, reason: 'not compressed in time' });
  }
}

/**
 * Whether an `If-None-Match` names this entity tag, by weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). A value that
 * is no list of tags names none. `Cache-Control` beside it is ignored: Node's `fetch` adds `no-cache`.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  let named = false;
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < ifNoneMatch.length) {
    const member = MEMBER.exec(ifNoneMatch);
    if (member === null) return false;
    named ||= member[1] === opaque;
  }
  return named;
}

/** Returns the headers of the list of definitions, also on 304. Alternating names and values. */
export function listHeaders({ etag }: Snapshot): string[] {
  return ['ETag', etag, 'Cache-Control', 'private, no-cache'];
}

/**
 * Returns the headers of a loaded snapshot, also on 304: its entity tag, `Cache-Control` and `Age` for the client's cache (RFC
 * 9111), and `Cache-Status` of Portico's own (RFC 9211). `now` is in milliseconds since the epoch. Alternating names and values.
 *
 * `max-age` is the whole freshness of the snapshot, of which `Age` has passed. What was loaded for this request has no `Age`
 * (RFC 9111, section 5.1).
 */
export function loadHeaders({ snapshot, cached, collapsed, copied, renewed, dropped }: Load, now: number): string[] {
  const headers = ['ETag', snapshot.etag];
  if (dropped > 0) headers.push('Portico-Dropped-Items', String(dropped));
  if (cached === undefined) {
    const status = collapsed ? 'portico; fwd=bypass; collapsed' : 'portico; fwd=bypass';
    headers.push('Cache-Control', 'private, no-cache', 'Cache-Status', status);
    return headers;
  }
  const { freshUntil, stored, forwarded, error } = cached;
  const maxAge = freshUntil > now ? seconds(freshUntil - snapshot.loadedAt) : 0;
  const held = forwarded === undefined || error !== undefined;
  const forwardedStatus = renewed ? 304 : error?.upstreamStatus;
  let status = forwarded === undefined ? 'portico; hit' : `portico; fwd=${forwarded}`;
  // Only where it differs from the status of the response.
  if (forwardedStatus !== undefined) status += `; fwd-status=${forwardedStatus}`;
  if (held) status += `; ttl=${seconds(freshUntil - now)}`;
  if (stored) status += '; stored';
  if (collapsed) status += '; collapsed';
  if (copied) status += '; detail=shared';
  if (error !== undefined) status += `; detail=${error.code.replaceAll('_', '-')}`;
  headers.push('Cache-Control', `private, max-age=${maxAge}`, 'Cache-Status', status);
  if (held || collapsed) headers.push('Age', String(Math.max(0, seconds(now - snapshot.loadedAt))));
  return headers;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
