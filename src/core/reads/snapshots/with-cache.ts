import { type Caller, requestOf } from '../../kernel/caller.ts';
import { codeOf, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { type CallerQuota, createCallerQuota } from '../../kernel/quotas.ts';
import { createSingleFlight } from '../../kernel/single-flight.ts';
import type { Snapshots } from './cache.ts';
import type { Load, Loader, Read } from './load.ts';
import { freshUntil, type Lifetime, withSnapshots } from './with-snapshots.ts';

interface CacheOptions {
  readonly resource: string;
  /** All resources of the same upstream, including this one. */
  readonly siblings: readonly string[];
  readonly cache: Snapshots;
  /** `undefined`, or a `ttlMs` of 0: nothing is stored. */
  readonly lifetime: (Lifetime & { readonly minRefreshMs: number }) | undefined;
  readonly secondLevel: StoreUse;
  readonly wrapLoad: (load: Loader, resource: string) => Loader;
  readonly waiting: CallerQuota;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Resources that are not stored share loads too, and their 401 evicts the other resources. */
export function withCache(load: Loader, options: CacheOptions): Read {
  const { resource, cache, lifetime, secondLevel, wrapLoad } = options;
  const evicting = withEvictions(load, options);
  if (lifetime === undefined || lifetime.ttlMs === 0) {
    const loadOnce = withSingleFlight(wrapLoad(evicting, resource), options);
    return withOutcome((caller, { signal }) => loadOnce(caller, signal), options);
  }
  const stored = secondLevel.store.wrapLoad(evicting, { ...secondLevel, resource, cache, lifetime });
  const storing = withStorage(stored, { ...options, lifetime });
  const choosing: Loader = (caller, signal, how) => (how?.noStore === true ? evicting : storing)(caller, signal, how);
  const loadOnce = withSingleFlight(wrapLoad(choosing, resource), options);
  return withOutcome(withSnapshots(loadOnce, { ...options, lifetime, minRefreshMs: lifetime.minRefreshMs }), options);
}

/** Evicts with a 401 all resources of the caller, with a 403 this one. A rejection of Portico's own credential evicts nothing. */
function withEvictions(load: Loader, options: CacheOptions): Loader {
  const { resource, siblings, cache, secondLevel, events } = options;
  const { store, origin } = secondLevel;

  function evict(names: readonly string[], caller: Caller, { code }: GatewayError): void {
    store.evict(origin, names, caller);
    for (const name of names) {
      cache.evict(name, caller);
      events.snapshotEvicted?.({ ...requestOf(caller), resource: name, code });
    }
  }

  return async (caller, signal, options) => {
    try {
      return await load(caller, signal, options);
    } catch (error) {
      if (error instanceof GatewayError) {
        if (error.code === 'credential_rejected') evict(siblings, caller, error);
        if (error.code === 'access_denied') evict([resource], caller, error);
      }
      throw error;
    }
  };
}

/** Cached reads never wait. */
export function createWaiting(limits: Record<'maxWaiting' | 'maxWaitingPerCaller', number>): CallerQuota {
  return createCallerQuota({
    max: () => limits.maxWaiting,
    maxPerCaller: limits.maxWaitingPerCaller,
    bounds: ['maxWaiting', 'maxWaitingPerCaller'],
    taken: ['reads', 'waiting'],
  });
}

/**
 * Shares one load among concurrent reads of one credential, whatever the cache scope. Readers have their own signals and
 * deadlines, and occupy a waiting slot each; when the last one leaves, the load is aborted. An error reaches all, and the next
 * read loads again.
 */
export function withSingleFlight(
  load: Loader,
  { resource, waiting, events }: Pick<CacheOptions, 'resource' | 'waiting' | 'events'>,
): Loader {
  const flights = createSingleFlight<Load>();
  return async (caller, signal, options) => {
    signal.throwIfAborted();
    const { credentialKey: key } = caller;
    waiting.enter(caller);
    try {
      const joins = flights.has(key);
      if (joins) events.flightJoined?.({ ...requestOf(caller), resource });
      const startedAt = performance.now();
      const result = await flights.join(key, signal, (shared) => load(caller, shared, options));
      if (!joins) return result;
      return { ...result, collapsed: true, upstreamMs: Math.min(result.upstreamMs, performance.now() - startedAt) };
    } finally {
      waiting.leave(caller);
    }
  };
}

type StorageOptions = Pick<CacheOptions, 'resource' | 'cache' | 'events' | 'now'> & { readonly lifetime: Lifetime };

/** Stores the result of a load, from the upstream or another replica. */
function withStorage(load: Loader, { resource, cache, lifetime, events, now }: StorageOptions): Loader {
  /** Each hit returns this object, so it is created once. */
  function toHold({ notModified: _, fromSharedCache: __, ...load }: Load, key: string) {
    const until = freshUntil(load.snapshot.loadStartedAt, lifetime);
    return { ...load, upstreamMs: 0, cached: { key, freshUntil: until, stored: false } };
  }

  return async (caller, signal, options) => {
    const ticket = cache.begin(resource, caller);
    try {
      const key = cache.keyOf(resource, caller);
      const keep = (copy: Load) => ticket.keep(toHold(copy, key));
      const loaded = await load(caller, signal, { ...options, keep });
      const { fromSharedCache, snapshot, notModified = false } = loaded;
      const held = toHold(loaded, key);
      if (fromSharedCache) {
        ticket.keep(held);
        return { ...loaded, cached: held.cached };
      }
      // A snapshot that can never be served is not stored.
      const stored = (caller.expiresAt ?? Number.POSITIVE_INFINITY) > now() && ticket.store(held);
      if (stored) events.snapshotStored?.({ resource, bytes: snapshot.bytes.length, notModified });
      return { ...loaded, cached: { ...held.cached, forwarded: 'miss', stored } };
    } finally {
      ticket.end();
    }
  };
}

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

/** Returns the outcome at `now` (milliseconds since the epoch), for logs and metrics. */
export function cacheOutcome({ cached, collapsed, fromSharedCache }: Load, now: number): string {
  if (collapsed) return 'collapsed';
  if (cached === undefined) return 'bypass';
  const { forwarded, error, freshUntil } = cached;
  if (error !== undefined) return 'stale';
  if (forwarded === undefined && freshUntil <= now) return 'stale';
  if (forwarded === undefined) return fromSharedCache ? 'shared' : 'hit';
  return forwarded === 'miss' ? 'miss' : 'refreshed';
}

/** A resource that is stored, and what its lists depend on. */
export interface StoredResource {
  readonly resource: string;
  readonly cache: Snapshots;
  readonly lifetime: Lifetime;
  /** Base URL of the upstream: a denial applies to whatever is read from there. */
  readonly origin: string;
  /** Everything else that a list depends on, except the caller. */
  readonly fingerprint: string;
  readonly maxBytes: number;
}

/** A second level of snapshots, behind the cache of this process. */
export interface SnapshotStore {
  /** May return an earlier copy of the same caller. If the store fails, `load` runs as if there were none. */
  wrapLoad(load: Loader, stored: StoredResource): Loader;
  /** Removes what the store holds of these resources for a caller whom the upstream has denied them. */
  evict(origin: string, resources: readonly string[], caller: Caller): void;
}

export const NO_SNAPSHOT_STORE: SnapshotStore = { wrapLoad: (load) => load, evict() {} };

/** How the reads of one resource use a store. */
interface StoreUse extends Pick<StoredResource, 'origin' | 'fingerprint' | 'maxBytes'> {
  readonly store: SnapshotStore;
}
