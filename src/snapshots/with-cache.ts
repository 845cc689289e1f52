import type { Events } from '../observability/events.ts';
import type { SnapshotCache } from './cache.ts';
import type { Lifetime } from './lifetime.ts';
import type { Loader, Read } from './load.ts';
import type { Waiting } from './waiting.ts';
import { withEvictions } from './with-evictions.ts';
import { withFlights } from './with-flights.ts';
import { withSnapshots } from './with-snapshots.ts';
import { withStorage } from './with-storage.ts';

export interface CacheOptions {
  readonly resource: string;
  /** Every resource that comes from the same upstream, this one included. */
  readonly siblings: readonly string[];
  readonly cache: SnapshotCache;
  /** How long snapshots serve. `undefined`, or a `ttlMs` of 0: nothing is stored. */
  readonly lifetime: (Lifetime & { readonly minRefreshMs: number }) | undefined;
  /** The reads that wait, of all resources together. */
  readonly waiting: Waiting;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The way of a read: what is held, else one flight for all who ask, which stores what it brings. A resource that is not
 * stored has flights, too, and its 401 evicts snapshots of the others.
 */
export function withCache(load: Loader, { lifetime, ...options }: CacheOptions): Read {
  const evicting = withEvictions(load, options);
  if (lifetime === undefined || lifetime.ttlMs === 0) {
    const flying = withFlights(evicting, options);
    return (caller, { signal }) => flying(caller, signal);
  }
  const flying = withFlights(withStorage(evicting, { ...options, lifetime }), options);
  return withSnapshots(flying, { ...options, lifetime, minRefreshMs: lifetime.minRefreshMs });
}
