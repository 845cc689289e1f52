import { type Caller, requestOf } from '../../kernel/caller.ts';
import type { ErrorCode } from '../../kernel/error-table.ts';
import { codeOf, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { isUntimely } from '../../upstream/client/reply-errors.ts';
import { isShared, type Snapshots } from './cache.ts';
import type { Cached, Load, Loader, LoadOptions, Read, ReadOptions } from './load.ts';

export interface Lifetime {
  readonly ttlMs: number;
  /** Served while being refreshed (RFC 5861, section 3). */
  readonly staleWhileRevalidateMs: number;
  /** Time after freshness in which it replaces an upstream's error (RFC 5861, section 4). */
  readonly staleIfErrorMs: number;
}

/** The use that a snapshot may have at a time. */
type Stage = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'over';

/** Returns the end of freshness, in milliseconds since the epoch. */
export function freshUntil(loadStartedAt: number, { ttlMs }: Lifetime): number {
  return loadStartedAt + ttlMs;
}

/** Whether a snapshot is young enough to be taken instead of a load. */
export function isRecent(loadStartedAt: number, maxAgeMs: number, now: number): boolean {
  return now - loadStartedAt < maxAgeMs;
}

/** Returns the stage of a snapshot at `now`. One from the future is not used: the clock was set back, and its age is unknown. */
export function stageAt(now: number, loadStartedAt: number, lifetime: Lifetime, expiresAt?: number): Stage {
  const age = now - loadStartedAt;
  if (age < 0 || (expiresAt !== undefined && now >= expiresAt)) return 'over';
  if (age < lifetime.ttlMs) return 'fresh';
  if (age < lifetime.ttlMs + lifetime.staleWhileRevalidateMs) return 'stale-while-revalidate';
  return age < lifetime.ttlMs + lifetime.staleIfErrorMs ? 'stale-if-error' : 'over';
}

/** Failures whatever their status was, and refusals of Portico's own that a failing upstream causes. */
const FAILURES: readonly ErrorCode[] = ['upstream_timeout', 'upstream_rate_limited', 'breaker_open', 'overloaded'];

/**
 * Returns whether a stale snapshot may replace an error: only a failure of the upstream. Any other reply (a redirect, a 4xx, a page
 * of HTML, an invalid list) is an answer to this request, and often the only sign that a token was revoked.
 */
export function allowsStale(error: unknown): error is GatewayError {
  if (!(error instanceof GatewayError)) return false;
  const { code, upstreamStatus, countsForBreaker } = error;
  return FAILURES.includes(code) || (code === 'upstream_failed' && (countsForBreaker || isUntimely(upstreamStatus)));
}

interface SnapshotsOptions {
  readonly resource: string;
  readonly cache: Snapshots;
  readonly lifetime: Lifetime;
  /** Age up to which a fresh snapshot is served with `no-cache`. */
  readonly minRefreshMs: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Why the upstream is called, by the stage of what is stored. */
const FORWARDED: Readonly<Record<Stage, Cached['forwarded'] & string>> = {
  fresh: 'request',
  'stale-while-revalidate': 'stale',
  'stale-if-error': 'stale',
  over: 'miss',
};

type LoadHow = Required<Pick<LoadOptions, 'maxAgeMs'>> & Pick<LoadOptions, 'isRefresh' | 'noStore'>;

/** Serves stored snapshots while they may be served. `load` stores results and shares loads in flight. */
export function withSnapshots(load: Loader, options: SnapshotsOptions): Read {
  const { resource, cache, lifetime, minRefreshMs, events, now } = options;
  const refreshing = new Set<string>();
  /** Errors of the last background refreshes, by the load that they should have replaced. */
  const refreshErrors = new WeakMap<Load, unknown>();

  function stageOf({ snapshot }: Load, caller: Caller, time: number): Stage {
    const since = Math.min(snapshot.loadStartedAt, cache.lastOwnLoadAt(resource, caller));
    return stageAt(time, since, lifetime, caller.expiresAt);
  }

  /** Never beyond the end of the caller's token. */
  function serve(load: Load, { expiresAt }: Caller): Load {
    const { cached } = load;
    if (cached === undefined || expiresAt === undefined || expiresAt >= cached.freshUntil) return load;
    return { ...load, cached: { ...cached, freshUntil: expiresAt } };
  }

  /** Entity tags are sent for the caller's own load only: an upstream may use one tag for different credentials. */
  async function loadWith(caller: Caller, signal: AbortSignal, held: Load | undefined, how: LoadHow): Promise<Load> {
    const previous = isShared(caller) ? undefined : held;
    const { expiresAt = Number.POSITIVE_INFINITY } = caller;
    const isUsable = ({ snapshot }: Load) => now() < expiresAt && isRecent(snapshot.loadStartedAt, how.maxAgeMs, now());
    let loaded = await load(caller, signal, { ...how, previous });
    // The reader that started the load may have accepted an older copy, or have a longer token: this one accepts none then.
    while (loaded.fromSharedCache && !isUsable(loaded)) {
      loaded = await load(caller, signal, { ...how, maxAgeMs: 0, previous });
    }
    return serve(loaded, caller);
  }

  /** Refreshes in a trace of its own, ended only by the load's deadline. */
  function refresh(caller: Caller, held: Load): void {
    const { credentialKey: key } = caller;
    if (refreshing.has(key)) return;
    refreshing.add(key);
    const { signal } = new AbortController();
    const how = { maxAgeMs: lifetime.ttlMs, isRefresh: true };
    loadWith(caller, signal, held, how)
      .catch((error) => {
        refreshErrors.set(held, error);
        events.refreshFailed?.({ ...requestOf(caller), resource, error });
      })
      .finally(() => refreshing.delete(key));
  }

  /** Calls the upstream. A snapshot that is stored by then replaces an error. */
  async function reload(caller: Caller, previous: Load | undefined, stage: Stage, options: ReadOptions): Promise<Load> {
    const { signal, noCache = false, noStore = false } = options;
    const forwarded = FORWARDED[stage];
    // A copy is served as long as a stored snapshot.
    const { ttlMs, staleWhileRevalidateMs } = lifetime;
    const maxAgeMs = noCache ? Math.min(minRefreshMs, ttlMs) : ttlMs + staleWhileRevalidateMs;
    try {
      const loaded = await loadWith(caller, signal, previous, { maxAgeMs, noStore });
      if (loaded.fromSharedCache) {
        if (!isRecent(loaded.snapshot.loadStartedAt, ttlMs, now())) refresh(caller, loaded);
        return loaded;
      }
      const { cached } = loaded;
      return cached === undefined ? loaded : { ...loaded, cached: { ...cached, forwarded } };
    } catch (error) {
      if (noCache || !allowsStale(error)) throw error;
      // Looked up again: it may have been evicted.
      const held = cache.get(resource, caller);
      if (held?.cached === undefined || stageOf(held, caller, now()) === 'over') throw error;
      const served = serve(held, caller);
      // After a miss, the stored snapshot is another replica's.
      const why = forwarded === 'miss' ? 'stale' : forwarded;
      return { ...served, cached: { ...held.cached, ...served.cached, forwarded: why, error } };
    }
  }

  return (caller, options) => {
    const held = cache.get(resource, caller);
    if (held === undefined) return reload(caller, undefined, 'over', options);
    const { noCache = false, noStore = false } = options;
    const time = now();
    const stage = stageOf(held, caller, time);
    if (stage === 'fresh' && (!noCache || time - held.snapshot.loadStartedAt <= minRefreshMs)) {
      return Promise.resolve(serve(held, caller));
    }
    const refreshError = refreshErrors.get(held);
    const isAnswered = refreshError instanceof GatewayError && !allowsStale(refreshError);
    if (stage === 'stale-while-revalidate' && !noCache && !noStore && !isAnswered) {
      refresh(caller, held);
      const served = serve(held, caller);
      return Promise.resolve(refreshError === undefined ? served : { ...served, refreshError: codeOf(refreshError) });
    }
    return reload(caller, held, stage, options);
  };
}
