import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { causesOf, nameError } from '../observability/causes.ts';
import type { Logger } from '../observability/logger.ts';
import type { SnapshotCache } from './cache.ts';
import { freshUntil, type Lifetime, type Stage, stageAt } from './lifetime.ts';
import type { Cached, Load, Loader, Source } from './load.ts';
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
export function withSnapshots(load: Loader, options: SnapshotsOptions): Source {
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

  function serve(key: string, held: Load, caller: Caller, rest?: Pick<Cached, 'forwarded' | 'failure'>): Load {
    const until = freshUntil(held.snapshot.loadedAt, lifetime, caller.expiresAt);
    return { ...held, cached: { key, freshUntil: until, stored: false, ...rest } };
  }

  function fresh(caller: Caller): Load | undefined {
    const key = snapshotKey(resource, caller.partition);
    const found = lookUp(key, caller);
    return found?.stage === 'fresh' ? serve(key, found.held, caller) : undefined;
  }

  const serveOrLoad: Loader = async (caller, signal, { noCache = false } = {}) => {
    const key = snapshotKey(resource, caller.partition);
    const found = lookUp(key, caller);
    if (found === undefined) return load(caller, signal);
    const { held, stage } = found;
    const young = now() - held.snapshot.loadedAt <= minRefreshMs;
    if (stage === 'fresh' && (!noCache || young)) return serve(key, held, caller);
    if (stage === 'stale-while-revalidate' && !noCache) {
      refresh(key, caller);
      return serve(key, held, caller);
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
      return serve(key, left.held, caller, { forwarded, failure: error });
    }
  };

  return { load: serveOrLoad, fresh };
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
