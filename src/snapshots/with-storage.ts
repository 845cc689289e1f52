import type { SnapshotCache } from './cache.ts';
import { freshUntil, type Lifetime } from './lifetime.ts';
import type { Loader } from './load.ts';
import { snapshotKey } from './snapshot-key.ts';

export interface StorageOptions {
  readonly resource: string;
  readonly cache: SnapshotCache;
  readonly lifetime: Lifetime;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Stores what a load brings, and offers what is held already for the upstream to renew. */
export function withStorage(load: Loader, { resource, cache, lifetime, now }: StorageOptions): Loader {
  return async (caller, signal) => {
    const key = snapshotKey(resource, caller.partition);
    const storing = cache.begin(key);
    try {
      const loaded = await load(caller, signal, { known: cache.get(key) });
      const { snapshot, pages, dropped, upstreamEtag } = loaded;
      const until = freshUntil(snapshot.loadedAt, lifetime, caller.expiresAt);
      const kept = { snapshot, pages, dropped, upstreamMs: 0, ...(upstreamEtag !== undefined && { upstreamEtag }) };
      // What nobody could ever be served is not worth a place.
      const stored = (caller.expiresAt ?? Number.POSITIVE_INFINITY) > now() && storing.store(kept);
      return { ...loaded, cached: { key, freshUntil: until, forwarded: 'miss', stored } };
    } finally {
      storing.end();
    }
  };
}
