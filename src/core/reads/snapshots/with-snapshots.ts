import { isRecent } from '../../../capabilities/shared-cache/snapshots/steps.ts';
import { during } from '../../../capabilities/tracing/during.ts';
import { type Caller, under } from '../../kernel/caller.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import { isShared, type SnapshotCache } from './cache.ts';
import { allowsStale, type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader, LoadOptions, Read } from './load.ts';

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

  /** For no longer than the caller's own token lasts. */
  function serve(load: Load, { expiresAt }: Caller): Load {
    const { cached } = load;
    if (cached === undefined || expiresAt === undefined || expiresAt >= cached.freshUntil) return load;
    return { ...load, cached: { ...cached, freshUntil: expiresAt } };
  }

  /** Whether a copy will do in place of a load. */
  function isRecentFor(
    { expiresAt = Number.POSITIVE_INFINITY }: Caller,
    { snapshot }: Load,
    maxAgeMs: number,
  ): boolean {
    const time = now();
    return time < expiresAt && isRecent(snapshot.loadedAt, maxAgeMs, time);
  }

  /**
   * Has it loaded, or taken from another replica where that has loaded it within `maxAgeMs`. An upstream may use one entity tag
   * for what it shows to different credentials: so it is asked by a caller's own only.
   */
  async function ask(caller: Caller, signal: AbortSignal, held: Load | undefined, how: Asking): Promise<Load> {
    for (;;) {
      const loaded = await load(caller, signal, { ...how, known: isShared(caller) ? undefined : held });
      // Whoever began the flight may have been content with an older copy, or with a token that lasts longer.
      if (!loaded.copied || isRecentFor(caller, loaded, how.maxAgeMs)) return serve(loaded, caller);
    }
  }

  /**
   * Loads behind the caller's back. Nobody waits, so that nobody's leaving ends it: the load's own deadline does. Its trace is
   * its own, since that of the read has ended by then.
   */
  function refresh(caller: Caller, held: Load): void {
    const { key } = caller;
    if (refreshing.has(key)) return;
    refreshing.add(key);
    const { signal } = new AbortController();
    const span = caller.span?.beginAside('refresh', { resource });
    const how = { maxAgeMs: lifetime.ttlMs, isRefresh: true };
    during(span, signal, () => ask(under(caller, span), signal, held, how))
      .catch((error) => events.refreshFailed?.({ ...requestOf(caller), resource, error }))
      .finally(() => refreshing.delete(key));
  }

  /** Asks in spite of what is held, or since nothing is. What is held by then is served where the upstream fails. */
  async function reload(caller: Caller, signal: AbortSignal, known: Load | undefined, why: Why): Promise<Load> {
    // A copy serves as long as what is held does.
    const { ttlMs, staleWhileRevalidateMs } = lifetime;
    const maxAgeMs = why.noCache ? Math.min(minRefreshMs, ttlMs) : ttlMs + staleWhileRevalidateMs;
    try {
      const loaded = await ask(caller, signal, known, { maxAgeMs });
      if (loaded.copied) {
        if (!isRecent(loaded.snapshot.loadedAt, ttlMs, now())) refresh(caller, loaded);
        return loaded;
      }
      const { cached } = loaded;
      if (cached === undefined) return loaded;
      return { ...loaded, cached: { ...cached, forwarded: why.forwarded } };
    } catch (error) {
      if (why.noCache || !allowsStale(error)) throw error;
      // Looked up again: it may have been evicted meanwhile.
      const held = cache.get(resource, caller);
      const stage = held === undefined ? 'over' : stageOf(held, caller, now());
      if (held?.cached === undefined || stage === 'over') throw error;
      const served = serve(held, caller);
      // Where it was a miss, what is held now came from another replica.
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
      return serve(held, caller);
    }
    return reload(caller, options.signal, held, { forwarded: FORWARDED[stage], noCache });
  };
}

/** Why the upstream is asked. */
interface Why {
  readonly forwarded: Cached['forwarded'] & string;
  readonly noCache: boolean;
}

/** The same, by what is held. */
const FORWARDED: Readonly<Record<Stage, Why['forwarded']>> = {
  fresh: 'request',
  'stale-while-revalidate': 'stale',
  'stale-if-error': 'stale',
  over: 'miss',
};

/** How a load is asked for, beside what is known. */
type Asking = Required<Pick<LoadOptions, 'maxAgeMs'>> & Pick<LoadOptions, 'isRefresh'>;
