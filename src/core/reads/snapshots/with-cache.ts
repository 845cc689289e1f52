import { under } from '../../kernel/caller.ts';
import { codeOf } from '../../kernel/causes.ts';
import type { Events } from '../../kernel/events.ts';
import type { Span } from '../../kernel/span.ts';
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
  const options = { ...rest, secondLevel };
  const evicting = withEvictions(load, options);
  if (lifetime === undefined || lifetime.ttlMs === 0) {
    const flying = withFlights(evicting, options);
    return withOutcome((caller, { signal }) => flying(caller, signal), options);
  }
  const { resource, cache } = options;
  const stored = secondLevel.store.wrapLoad(evicting, { ...secondLevel, resource, cache, lifetime });
  const flying = withFlights(withStorage(stored, { ...options, lifetime }), options);
  return withOutcome(withSnapshots(flying, { ...options, lifetime, minRefreshMs: lifetime.minRefreshMs }), options);
}

/** Emits the outcome of each read, and traces it from the cache's decision to its result. */
function withOutcome(read: Read, { resource, events, now }: Pick<CacheOptions, 'resource' | 'events' | 'now'>): Read {
  const told = (load: Load, span: Span | undefined): Load => {
    const cache = cacheOutcome(load, now());
    span?.end({ cache });
    events.readEnded?.({ resource, cache });
    return load;
  };
  const failed = (error: unknown, { signal }: ReadOptions, span: Span | undefined): never => {
    const code = codeOf(error, signal);
    span?.end({ error: code });
    events.readEnded?.({ resource, error: code });
    throw error;
  };
  return (caller, options) => {
    const span = caller.span?.begin('read', { resource });
    const found = read(under(caller, span), options);
    if (!(found instanceof Promise)) return told(found, span);
    return found.then(
      (load) => told(load, span),
      (error) => failed(error, options, span),
    );
  };
}
