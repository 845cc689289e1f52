import type { RawResponse } from '../raw-response.ts';
import type { Read } from './read.ts';
import { LIFETIME, TIMEOUT_MS } from './settings.ts';

/** The process goes by another clock than this one, in whole milliseconds, and its timers may be late. */
const CLOCKS_MS = 250;
const LATE_TIMER_MS = 3000;

/**
 * How long before a read was sent its answer may have been true for the last time, by what the answer says of itself.
 * `undefined` where it says what it must not.
 */
export function permittedAge({ resource, noCache }: Read, response: RawResponse): number | undefined {
  const [name, ...parameters] = response.headers.get('cache-status')?.split('; ') ?? [];
  const has = (parameter: string) => parameters.some((each) => each === parameter || each.startsWith(`${parameter}=`));
  if (name !== 'portico' || has('fwd') === has('hit')) return undefined;
  const { ttlMs, staleWhileRevalidateMs, staleIfErrorMs, minRefreshMs } = LIFETIME;
  if (has('hit')) {
    if (resource === 'projects') return undefined;
    return (noCache ? minRefreshMs : ttlMs + staleWhileRevalidateMs) + CLOCKS_MS;
  }
  if (has('detail')) {
    return noCache || resource === 'projects' ? undefined : ttlMs + staleIfErrorMs + CLOCKS_MS;
  }
  // Another read may have begun the load, up to a deadline before; or it was loaded for this very read.
  return has('collapsed') ? TIMEOUT_MS + LATE_TIMER_MS : 0;
}
