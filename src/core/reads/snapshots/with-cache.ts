import { codeOf } from '../../kernel/causes.ts';
import type { Events } from '../../kernel/events.ts';
import type { SnapshotCache } from './cache.ts';
import type { Lifetime } from './lifetime.ts';
import { cacheOutcome, type Load, type Loader, type Read, type ReadOptions } from './load.ts';
import { NO_STORE_USE, type StoreUse } from './snapshot-store.ts';
import type { Waiting } from './waiting.ts';
import { withEvictions } from './with-evictions.ts';
import { withFlights } from './with-flights.ts';
import { withSnapshots } from './with-snapshots.ts';
import { withStorage } from './with-storage.ts';

export interface CacheOptions {
  readonly resource: string;
  /** All resources of the same upstream, including this one. */
  readonly siblings: readonly string[];
  readonly cache: SnapshotCache;
  /** Lifetimes of snapshots. `undefined`, or a `ttlMs` of 0: nothing is stored. */
  readonly lifetime: (Lifetime & { readonly minRefreshMs: number }) | undefined;
  /** The second level of snapshots. @default none */
  readonly secondLevel?: StoreUse;
  /** Wraps the load that concurrent reads share. @default nothing is wrapped */
  readonly wrapLoad?: (load: Loader, resource: string) => Loader;
  /** Waiting reads of all resources. */
  readonly waiting: Waiting;
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
  const succeeded = (load: Load): Load => {
    const staleFor = load.cached?.error?.code ?? load.refreshError;
    events.readEnded?.({ resource, cache: cacheOutcome(load, now()), ...(staleFor && { staleFor }) });
    return load;
  };
  const failed = (error: unknown, { signal }: ReadOptions): never => {
    events.readEnded?.({ resource, error: codeOf(error, signal) });
    throw error;
  };
  return (caller, options) => {
    const found = read(caller, options);
    return found instanceof Promise ? found.then(succeeded, (error) => failed(error, options)) : succeeded(found);
  };
}
