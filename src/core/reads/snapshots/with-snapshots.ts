import type { Caller } from '../../kernel/caller.ts';
import { codeOf } from '../../kernel/causes.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import { isShared, type SnapshotCache } from './cache.ts';
import { allowsStale, isRecent, type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader, LoadOptions, Read } from './load.ts';

export interface SnapshotsOptions {
  readonly resource: string;
  readonly cache: SnapshotCache;
  readonly lifetime: Lifetime;
  /** With `no-cache`, a fresh snapshot of at most this age is served. */
  readonly minRefreshMs: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Serves stored snapshots while they may be served. `load` stores results and shares loads in flight. */
export function withSnapshots(load: Loader, options: SnapshotsOptions): Read {
  const { resource, cache, lifetime, minRefreshMs, events, now } = options;
  const refreshing = new Set<string>();
  /** Codes of the errors of the last background refreshes, by the load that is served instead. */
  const refreshErrors = new WeakMap<Load, string>();

  function stageOf({ snapshot }: Load, caller: Caller, time: number): Stage {
    const since = Math.min(snapshot.loadedAt, cache.admittedAt(resource, caller));
    return stageAt(time, since, lifetime, caller.expiresAt);
  }

  /** Never beyond the end of the caller's token. */
  function serve(load: Load, { expiresAt }: Caller): Load {
    const { cached } = load;
    if (cached === undefined || expiresAt === undefined || expiresAt >= cached.freshUntil) return load;
    return { ...load, cached: { ...cached, freshUntil: expiresAt } };
  }

  /** Whether another replica's copy is acceptable. */
  function isRecentFor(
    { expiresAt = Number.POSITIVE_INFINITY }: Caller,
    { snapshot }: Load,
    maxAgeMs: number,
  ): boolean {
    const time = now();
    return time < expiresAt && isRecent(snapshot.loadedAt, maxAgeMs, time);
  }

  /**
   * Loads, or takes another replica's copy of at most `maxAgeMs`. Entity tags are sent only for the caller's own load,
   * because an upstream may use one tag for different credentials.
   */
  async function loadWith(caller: Caller, signal: AbortSignal, held: Load | undefined, how: LoadHow): Promise<Load> {
    for (;;) {
      const loaded = await load(caller, signal, { ...how, known: isShared(caller) ? undefined : held });
      // The reader that started the load may have accepted an older copy, or have a longer token.
      if (!loaded.copied || isRecentFor(caller, loaded, how.maxAgeMs)) return serve(loaded, caller);
    }
  }

  /** Refreshes in the background, in a trace of its own, ended only by the load's deadline. */
  function refresh(caller: Caller, held: Load): void {
    const { key } = caller;
    if (refreshing.has(key)) return;
    refreshing.add(key);
    const { signal } = new AbortController();
    const how = { maxAgeMs: lifetime.ttlMs, isRefresh: true };
    loadWith(caller, signal, held, how)
      .catch((error) => {
        refreshErrors.set(held, codeOf(error));
        events.refreshFailed?.({ ...requestOf(caller), resource, error });
      })
      .finally(() => refreshing.delete(key));
  }

  /**
   * Calls the upstream despite a stored snapshot, or without one. A snapshot that is stored by then replaces an error.
   */
  async function reload(caller: Caller, signal: AbortSignal, known: Load | undefined, why: Why): Promise<Load> {
    // A copy is served as long as a stored snapshot.
    const { ttlMs, staleWhileRevalidateMs } = lifetime;
    const maxAgeMs = why.noCache ? Math.min(minRefreshMs, ttlMs) : ttlMs + staleWhileRevalidateMs;
    try {
      const loaded = await loadWith(caller, signal, known, { maxAgeMs });
      if (loaded.copied) {
        if (!isRecent(loaded.snapshot.loadedAt, ttlMs, now())) refresh(caller, loaded);
        return loaded;
      }
      const { cached } = loaded;
      if (cached === undefined) return loaded;
      return { ...loaded, cached: { ...cached, forwarded: why.forwarded } };
    } catch (error) {
      if (why.noCache || !allowsStale(error)) throw error;
      // Looked up again: it may have been evicted.
      const held = cache.get(resource, caller);
      const stage = held === undefined ? 'over' : stageOf(held, caller, now());
      if (held?.cached === undefined || stage === 'over') throw error;
      const served = serve(held, caller);
      // After a miss, the stored snapshot came from another replica.
      const forwarded = why.forwarded === 'miss' ? 'stale' : why.forwarded;
      return { ...served, cached: { ...held.cached, ...served.cached, forwarded, error } };
    }
  }

  return (caller, options) => {
    const held = cache.get(resource, caller);
    const noCache = options.noCache === true;
    if (held === undefined) return reload(caller, options.signal, undefined, { forwarded: 'miss', noCache });
    const time = now();
    const stage = stageOf(held, caller, time);
    if (stage === 'fresh' && (!noCache || time - held.snapshot.loadedAt <= minRefreshMs)) {
      return serve(held, caller);
    }
    if (stage === 'stale-while-revalidate' && !noCache) {
      refresh(caller, held);
      const served = serve(held, caller);
      const refreshError = refreshErrors.get(held);
      return refreshError === undefined ? served : { ...served, refreshError };
    }
    return reload(caller, options.signal, held, { forwarded: FORWARDED[stage], noCache });
  };
}

/** Returns the reason for calling the upstream. */
interface Why {
  readonly forwarded: Cached['forwarded'] & string;
  readonly noCache: boolean;
}

/** The same for a stored snapshot. */
const FORWARDED: Readonly<Record<Stage, Why['forwarded']>> = {
  fresh: 'request',
  'stale-while-revalidate': 'stale',
  'stale-if-error': 'stale',
  over: 'miss',
};

/** Returns the options of a load. */
type LoadHow = Required<Pick<LoadOptions, 'maxAgeMs'>> & Pick<LoadOptions, 'isRefresh'>;
