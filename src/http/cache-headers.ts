import type { Load } from '../snapshots/load.ts';

/**
 * What a client's own cache has to know of an answer (`Cache-Control` and `Age`: RFC 9111), and what ours did
 * (`Cache-Status`: RFC 9211). `now` is when it is sent, in milliseconds since the epoch.
 *
 * `max-age` is the whole of its freshness, of which `Age` is used up. There is no `Age` on what was loaded for this
 * very request (RFC 9111, section 5.1).
 */
export function cacheHeaders(load: Load, now: number): Record<string, string> {
  const { snapshot, cached, collapsed } = load;
  if (cached === undefined) {
    return { 'Cache-Control': 'private, no-cache', 'Cache-Status': status(['fwd=bypass', collapsed && 'collapsed']) };
  }
  const { freshUntil, stored, forwarded, failure } = cached;
  const maxAge = freshUntil > now ? seconds(freshUntil - snapshot.loadedAt) : 0;
  const held = forwarded === undefined || failure !== undefined;
  const headers: Record<string, string> = {
    'Cache-Control': `private, max-age=${maxAge}`,
    'Cache-Status': status([
      forwarded === undefined ? 'hit' : `fwd=${forwarded}`,
      forwardedStatus(load),
      held && `ttl=${seconds(freshUntil - now)}`,
      stored && 'stored',
      collapsed && 'collapsed',
      failure !== undefined && `detail=${failure.code.replaceAll('_', '-')}`,
    ]),
  };
  if (held || collapsed) headers['Age'] = String(Math.max(0, seconds(now - snapshot.loadedAt)));
  return headers;
}

/** The same in one word, for the access log. */
export function cacheWord({ cached, collapsed }: Load, now: number): string {
  if (collapsed) return 'collapsed';
  if (cached === undefined) return 'bypass';
  const { forwarded, failure, freshUntil } = cached;
  if (failure !== undefined) return 'stale';
  if (forwarded === undefined) return freshUntil > now ? 'hit' : 'stale';
  return forwarded === 'miss' ? 'miss' : 'refreshed';
}

/** Where it differs from the status that the caller is given. */
function forwardedStatus({ renewed, cached }: Load): string | undefined {
  const status = renewed ? 304 : cached?.failure?.upstreamStatus;
  return status === undefined ? undefined : `fwd-status=${status}`;
}

function status(parameters: readonly (string | false | undefined)[]): string {
  return ['portico', ...parameters.filter((parameter) => typeof parameter === 'string')].join('; ');
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
