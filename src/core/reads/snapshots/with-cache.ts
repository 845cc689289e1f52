import type { CallerPlaces } from '../../kernel/caller-places.ts';
import { codeOf } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Snapshots } from './cache.ts';
import type { Load, Loader, Read } from './load.ts';
import { NO_STORE_USE, type StoreUse } from './snapshot-store.ts';
import { withEvictions } from './with-evictions.ts';
import { withFlights } from './with-flights.ts';
import { type Lifetime, withSnapshots } from './with-snapshots.ts';
import { withStorage } from './with-storage.ts';

export interface CacheOptions {
  readonly resource: string;
  /** All resources of the same upstream, including this one. */
  readonly siblings: readonly string[];
  readonly cache: Snapshots;
  /** Lifetimes of snapshots. `undefined`, or a `ttlMs` of 0: nothing is stored. */
  readonly lifetime: (Lifetime & { readonly minRefreshMs: number }) | undefined;
  /** The second level of snapshots. @default none */
  readonly secondLevel?: StoreUse;
  /** Wraps the load that concurrent reads share. @default nothing is wrapped */
  readonly wrapLoad?: (load: Loader, resource: string) => Loader;
  /** Waiting reads of all resources. */
  readonly waiting: CallerPlaces;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Composes the layers of a read: a stored snapshot, or one shared load that stores its result. Resources that are not
 * stored share loads too, and their 401 evicts the other resources. A load looks into the second level first.
 */
export function withCache(load: Loader, { lifetime, secondLevel = NO_STORE_USE, ...rest }: CacheOptions): Read {
  const { resource, cache, wrapLoad = (inner) => inner } = rest;
  const options = { ...rest, secondLevel };
  const evicting = withEvictions(load, options);
  if (lifetime === undefined || lifetime.ttlMs === 0) {
    const flying = withFlights(wrapLoad(evicting, resource), options);
    return withOutcome((caller, { signal }) => flying(caller, signal), options);
  }
  const stored = secondLevel.store.wrapLoad(evicting, { ...secondLevel, resource, cache, lifetime });
  const flying = withFlights(wrapLoad(withStorage(stored, { ...options, lifetime }), resource), options);
  return withOutcome(withSnapshots(flying, { ...options, lifetime, minRefreshMs: lifetime.minRefreshMs }), options);
}

/** Reports the result of each read. */
function withOutcome(read: Read, { resource, events, now }: Pick<CacheOptions, 'resource' | 'events' | 'now'>): Read {
  return async (caller, options) => {
    try {
      const load = await read(caller, options);
      const staleFor = load.cached?.error?.code ?? load.refreshError;
      events.readEnded?.({ resource, cache: cacheOutcome(load, now()), ...(staleFor && { staleFor }) });
      return load;
    } catch (error) {
      events.readEnded?.({ resource, error: codeOf(error, options.signal) });
      throw error;
    }
  };
}

/** Returns the outcome of the cache at `now` (milliseconds since the epoch) for logs and metrics. */
export function cacheOutcome({ cached, collapsed, copied }: Load, now: number): string {
  if (collapsed) return 'collapsed';
  if (cached === undefined) return 'bypass';
  const { forwarded, error, freshUntil } = cached;
  if (error !== undefined) return 'stale';
  if (forwarded === undefined && freshUntil <= now) return 'stale';
  if (forwarded === undefined) return copied ? 'shared' : 'hit';
  return forwarded === 'miss' ? 'miss' : 'refreshed';
}
