import type { Caller } from '../kernel/caller.ts';
import type { Events } from '../observability/events.ts';
import { requestOf } from '../observability/trace.ts';
import { isShared, type SnapshotCache } from './cache.ts';
import { allowsStale, type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader, Read } from './load.ts';

export interface SnapshotsOptions {
  readonly resource: string;
  readonly cache: SnapshotCache;
  readonly lifetime: Lifetime;
  /** A caller who wants the upstream to be asked is given what is fresh and no older than this all the same. */
  readonly minRefreshMs: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Serves what is held, as long as it may be. `load` stores what it brings, and shares loads under way. */
export function withSnapshots(load: Loader, options: SnapshotsOptions): Read {
  const { resource, cache, lifetime, minRefreshMs, events, now } = options;
  const refreshing = new Set<string>();

  function stageOf({ snapshot }: Load, caller: Caller, time: number): Stage {
    const since = Math.min(snapshot.loadedAt, cache.admittedAt(resource, caller));
    return stageAt(time, since, lifetime, caller.expiresAt);
  }

  /** An upstream may use one entity tag for what it shows to different credentials: so it is asked by a caller's own only. */
  function ask(caller: Caller, signal: AbortSignal, held: Load): Promise<Load> {
    return load(caller, signal, { known: isShared(caller) ? undefined : held });
  }

  /** Loads behind the caller's back. Nobody waits, so that nobody's leaving ends it: the load's own deadline does. */
  function refresh(caller: Caller, held: Load): void {
    const { key } = caller;
    if (refreshing.has(key)) return;
    refreshing.add(key);
    ask(caller, new AbortController().signal, held)
      .catch((error) => events.refreshFailed?.({ ...requestOf(caller), resource, error }))
      .finally(() => refreshing.delete(key));
  }

  function serve(held: Load, caller: Caller): Load {
    const { cached } = held;
    const { expiresAt } = caller;
    if (cached === undefined || expiresAt === undefined || expiresAt >= cached.freshUntil) return held;
    return { ...held, cached: { ...cached, freshUntil: expiresAt } };
  }

  /** Asks the upstream in spite of what is held, which is served where the upstream fails. */
  async function reload(caller: Caller, signal: AbortSignal, known: Load, why: Why): Promise<Load> {
    try {
      const loaded = await ask(caller, signal, known);
      return loaded.cached === undefined
        ? loaded
        : { ...loaded, cached: { ...loaded.cached, forwarded: why.forwarded } };
    } catch (error) {
      if (why.noCache || !allowsStale(error)) throw error;
      // Looked up again: it may have been evicted meanwhile.
      const held = cache.get(resource, caller);
      const stage = held === undefined ? 'over' : stageOf(held, caller, now());
      if (held?.cached === undefined || stage === 'over') throw error;
      const served = serve(held, caller);
      return { ...served, cached: { ...held.cached, ...served.cached, forwarded: why.forwarded, error } };
    }
  }

  return (caller, options) => {
    const held = cache.get(resource, caller);
    if (held === undefined) return load(caller, options.signal);
    const time = now();
    const stage = stageOf(held, caller, time);
    const noCache = options.noCache === true;
    if (stage === 'fresh' && (!noCache || time - held.snapshot.loadedAt <= minRefreshMs)) {
      return serve(held, caller);
    }
    if (stage === 'stale-while-revalidate' && !noCache) {
      refresh(caller, held);
      return serve(held, caller);
    }
    if (stage === 'over') return ask(caller, options.signal, held);
    return reload(caller, options.signal, held, { forwarded: stage === 'fresh' ? 'request' : 'stale', noCache });
  };
}

/** Why the upstream is asked in spite of what is held. */
interface Why {
  readonly forwarded: Cached['forwarded'] & string;
  readonly noCache: boolean;
}
