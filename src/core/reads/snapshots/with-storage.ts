import type { Events } from '../../kernel/events.ts';
import type { Snapshots } from './cache.ts';
import type { Load, Loader } from './load.ts';
import { freshUntil, type Lifetime } from './with-snapshots.ts';

export interface StorageOptions {
  readonly resource: string;
  readonly cache: Snapshots;
  readonly lifetime: Lifetime;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Stores the result of a load, from the upstream or another replica. */
export function withStorage(load: Loader, { resource, cache, lifetime, events, now }: StorageOptions): Loader {
  /** Each hit returns this object, so it is created once. */
  function toHold({ snapshot, pages, excluded, dropped, upstreamEtag, upstreamSaid }: Load, key: string): Load {
    return {
      snapshot,
      pages,
      excluded,
      dropped,
      upstreamMs: 0,
      cached: { key, freshUntil: freshUntil(snapshot.loadedAt, lifetime), stored: false },
      ...(upstreamEtag !== undefined && { upstreamEtag }),
      ...(upstreamSaid !== undefined && { upstreamSaid }),
    };
  }

  return async (caller, signal, options) => {
    const epoch = cache.begin(resource, caller);
    try {
      const key = cache.keyOf(resource, caller);
      const keep = (copy: Load) => epoch.keep(toHold(copy, key));
      const loaded = await load(caller, signal, { ...options, keep });
      const until = freshUntil(loaded.snapshot.loadedAt, lifetime);
      if (loaded.copied) {
        keep(loaded);
        return { ...loaded, cached: { key, freshUntil: until, stored: false } };
      }
      // A snapshot that can never be served is not stored.
      const stored = (caller.expiresAt ?? Number.POSITIVE_INFINITY) > now() && epoch.store(toHold(loaded, key));
      if (stored) {
        const { bytes } = loaded.snapshot;
        events.snapshotStored?.({ resource, bytes: bytes.length, renewed: loaded.renewed ?? false });
      }
      return { ...loaded, cached: { key, freshUntil: until, forwarded: 'miss', stored } };
    } finally {
      epoch.end();
    }
  };
}
