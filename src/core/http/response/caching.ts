import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';

/** One member of a list of entity tags (RFC 9110, section 8.8.3). A tag may hold a comma. */
const MEMBER = /[\t ]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y;

const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/** Whether `Cache-Control` of a request asks for a response of the upstream (RFC 9111, section 5.2.1.4). */
export function forbidsCache(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && NO_CACHE.test(cacheControl);
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

/** Returns the headers of the list of definitions, also on 304. Names and values by turns. */
export function listHeaders({ etag }: Snapshot): string[] {
  return ['ETag', etag, 'Cache-Control', 'private, no-cache'];
}

/**
 * Returns the headers of a loaded snapshot, also on 304: its entity tag, `Cache-Control` and `Age` for the client's cache (RFC
 * 9111), and `Cache-Status` of Portico's own (RFC 9211). `now` is in milliseconds since the epoch. Names and values by turns.
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
