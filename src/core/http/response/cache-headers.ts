import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';

/** What stands with the list of definitions, be it sent or not (304). Names and values by turns. */
export function listHeaders({ etag }: Snapshot): string[] {
  return ['ETag', etag, 'Cache-Control', 'private, no-cache'];
}

/**
 * What stands with the snapshot of a load, be it sent or not (304): its entity tag, what a client's own cache has to know
 * of it (`Cache-Control` and `Age`: RFC 9111), and what ours did (`Cache-Status`: RFC 9211). `now` is when it is sent, in
 * milliseconds since the epoch. Names and values by turns.
 *
 * `max-age` is the whole of its freshness, of which `Age` is used up. There is no `Age` on what was loaded for this
 * very request (RFC 9111, section 5.1).
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
  // Where it differs from the status that the caller is given.
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
