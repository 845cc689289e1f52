import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { causesOf, nameError } from '../observability/causes.ts';
import type { Logger } from '../observability/logger.ts';
import type { SnapshotCache } from './cache.ts';
import { freshUntil, type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader } from './load.ts';
import { isOutage } from './outage.ts';
import { snapshotKey } from './snapshot-key.ts';

export interface SnapshotsOptions {
  readonly resource: string;
  readonly cache: SnapshotCache;
  readonly lifetime: Lifetime;
  /** A caller who wants the upstream to be asked is given what is fresh and no older than this all the same. */
  readonly minRefreshMs: number;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Serves what is held, as long as it may be. `load` stores what it brings, and shares loads under way. */
export function withSnapshots(load: Loader, options: SnapshotsOptions): Loader {
  const { resource, cache, lifetime, minRefreshMs, now } = options;
  const refreshing = new Set<string>();

  function lookUp(key: string, { expiresAt }: Caller): { held: Load; stage: Stage } | undefined {
    const held = cache.get(key);
    if (held === undefined) return undefined;
    const stage = stageAt(now(), held.snapshot.loadedAt, lifetime, expiresAt);
    return stage === 'over' ? undefined : { held, stage };
  }

  /** Loads behind the caller's back. Nobody waits, so that nobody's leaving ends it: its own deadline does. */
  function refresh(key: string, caller: Caller): void {
    if (refreshing.has(key)) return;
    refreshing.add(key);
    load(caller, new AbortController().signal)
      .catch((error) => logRefresh(options.logger, resource, error))
      .finally(() => refreshing.delete(key));
  }

  return async (caller, signal, { noCache = false } = {}) => {
    const key = snapshotKey(resource, caller.partition);
    const serve = (held: Load, rest: Pick<Cached, 'forwarded' | 'failure'> = {}): Load => {
      const until = freshUntil(held.snapshot.loadedAt, lifetime, caller.expiresAt);
      return { ...held, cached: { key, freshUntil: until, stored: false, ...rest } };
    };
    const found = lookUp(key, caller);
    if (found === undefined) return load(caller, signal);
    const { held, stage } = found;
    const young = now() - held.snapshot.loadedAt <= minRefreshMs;
    if (stage === 'fresh' && (!noCache || young)) return serve(held);
    if (stage === 'stale-while-revalidate' && !noCache) {
      refresh(key, caller);
      return serve(held);
    }
    const forwarded = stage === 'fresh' ? 'request' : 'stale';
    try {
      const loaded = await load(caller, signal);
      return loaded.cached === undefined ? loaded : { ...loaded, cached: { ...loaded.cached, forwarded } };
    } catch (error) {
      if (noCache || !isOutage(error)) throw error;
      // Looked up again: it may have been evicted meanwhile.
      const left = lookUp(key, caller);
      if (left === undefined) throw error;
      return serve(left.held, { forwarded, failure: error });
    }
  };
}

/** What the log says of a refresh, which has no access line. Never a message: that may be an upstream's. */
function logRefresh(logger: Logger, resource: string, error: unknown): void {
  if (error instanceof GatewayError) {
    const { code, upstream, reason, cause } = error;
    const causes = cause === undefined ? undefined : causesOf(error);
    logger.info({ resource, outcome: code, upstream, reason, causes }, 'refresh failed');
  } else {
    const name = error instanceof Error ? nameError(error) : typeof error;
    logger.error({ resource, outcome: 'internal', error: name }, 'refresh failed');
  }
}
