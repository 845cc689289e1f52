import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../observability/events.ts';
import type { SnapshotCache } from './cache.ts';
import { type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader, Read } from './load.ts';
import { isOutage } from './outage.ts';
import { snapshotKey } from './snapshot-key.ts';

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

  /** Loads behind the caller's back. Nobody waits, so that nobody's leaving ends it: its own deadline does. */
  function refresh(key: string, caller: Caller): void {
    if (refreshing.has(key)) return;
    refreshing.add(key);
    load(caller, new AbortController().signal)
      .catch((error) => events.refreshFailed?.({ resource, error }))
      .finally(() => refreshing.delete(key));
  }

  function serve(held: Load, stage: Stage, caller: Caller): Load {
    events.snapshotServed?.({ resource, stage: stage === 'fresh' ? 'fresh' : 'stale' });
    return bounded(held, caller);
  }

  async function reload(caller: Caller, signal: AbortSignal, stage: Stage, noCache: boolean): Promise<Load> {
    const forwarded = stage === 'fresh' ? 'request' : 'stale';
    try {
      const loaded = await load(caller, signal);
      return loaded.cached === undefined ? loaded : { ...loaded, cached: { ...loaded.cached, forwarded } };
    } catch (error) {
      if (noCache || !isOutage(error)) throw error;
      return standIn(caller, forwarded, error);
    }
  }

  /** What is held in place of an upstream that failed. It is looked up again: it may have been evicted meanwhile. */
  function standIn(caller: Caller, forwarded: Cached['forwarded'] & string, failure: GatewayError): Load {
    const held = cache.get(snapshotKey(resource, caller.partition));
    if (held?.cached === undefined) throw failure;
    const stage = stageAt(now(), held.snapshot.loadedAt, lifetime, caller.expiresAt);
    if (stage === 'over') throw failure;
    const served = serve(held, stage, caller);
    return { ...served, cached: { ...held.cached, ...served.cached, forwarded, failure } };
  }

  return (caller, options) => {
    const key = snapshotKey(resource, caller.partition);
    const held = cache.get(key);
    if (held === undefined) return load(caller, options.signal);
    const time = now();
    const stage = stageAt(time, held.snapshot.loadedAt, lifetime, caller.expiresAt);
    if (stage === 'over') return load(caller, options.signal);
    const { noCache = false } = options;
    if (stage === 'fresh' && (!noCache || time - held.snapshot.loadedAt <= minRefreshMs)) {
      return serve(held, stage, caller);
    }
    if (stage === 'stale-while-revalidate' && !noCache) {
      refresh(key, caller);
      return serve(held, stage, caller);
    }
    return reload(caller, options.signal, stage, noCache);
  };
}

/** What is held, as a caller is served it whose token may end before its freshness does. */
function bounded(held: Load, { expiresAt }: Caller): Load {
  const { cached } = held;
  if (cached === undefined || expiresAt === undefined || expiresAt >= cached.freshUntil) return held;
  return { ...held, cached: { ...cached, freshUntil: expiresAt } };
}
