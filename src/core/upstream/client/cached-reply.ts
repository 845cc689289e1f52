import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';

/** Headers in which caches say that a reply is theirs: `X-Cache`, `CF-Cache-Status`, `Cache-Status` (RFC 9211) and their like. */
const CACHE_HEADER = /(?:^|-)cache(?:-(?:status|result|lookup|info|hits?|state|debug))?$/;
/** nginx, Cloudflare and CloudFront send a stored reply also as stale, while they update it, and after the platform has confirmed it. */
const HIT = /(?:^|[\s;,:_"'-])(?:(?:refresh)?hit|stale|updating|revalidated)(?:$|[\s;,:_"'-])/i;
const HITS: readonly (readonly [header: RegExp, hit: RegExp])[] = [
  [CACHE_HEADER, HIT],
  // One count for each cache on the way.
  [/(?:^|-)cache-hits?$/, /[1-9]/],
  // Akamai.
  [/^server-timing$/, /\bcdn-cache;\s*desc="?hit/i],
];

/**
 * Returns the error for a reply to a caller's credential that a shared cache has sent to someone before: it may be another caller's
 * list. `undefined` if the reply is new, or if its `Vary` names the header of the credential (RFC 9111, section 4.1).
 */
export function cachedReplyError(
  headers: ReplyHeaders,
  credentialHeaders: readonly string[],
): GatewayError | undefined {
  const sign = signOf(headers);
  if (sign === undefined || credentialHeaders.length === 0) return undefined;
  const varied = new Set(
    textOf(headers['vary'])
      .toLowerCase()
      .split(/[\s,]+/),
  );
  if (credentialHeaders.every((name) => varied.has(name.toLowerCase()))) return undefined;
  const names = credentialHeaders.join(', ');
  return new GatewayError('upstream_invalid', {
    reason: `a shared cache sent the reply (${sign}), and its Vary does not name ${names}, so it may be another caller's: exclude this path from the cache, or set cachedReplies: allow on the upstream`,
    detail:
      'The reply comes from a shared cache and may be that of another caller. The operator of Portico finds the reason in the log.',
  });
}

function signOf(headers: ReplyHeaders): string | undefined {
  // Two caches on the way can each add one.
  const [age] = /\b[1-9]\d*/.exec(textOf(headers['age'])) ?? [];
  if (age !== undefined) return `Age: ${age}`;
  const isHit = (name: string) => HITS.some(([header, hit]) => header.test(name) && hit.test(textOf(headers[name])));
  const sign = Object.keys(headers).find(isHit);
  return sign && `${sign}: hit`;
}

function textOf(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ');
}
