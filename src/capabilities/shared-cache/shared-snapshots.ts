import { setTimeout as pause } from 'node:timers/promises';
import { type Caller, requestOf } from '../../core/kernel/caller.ts';
import { stackOf } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createMemorySemaphore, createTtlSet, type MemorySemaphore } from '../../core/kernel/tables.ts';
import { during } from '../../core/kernel/trace.ts';
import type { Load, Loader } from '../../core/reads/snapshots/load.ts';
import type { SnapshotStore } from '../../core/reads/snapshots/with-cache.ts';
import type { Announcements } from './announcements.ts';
import { createEvictionIndex } from './eviction-index.ts';
import { type Lookup, lookupOrLease } from './lookup-or-lease.ts';
import type { Lease } from './redis-store.ts';
import { type CallerCopies, type CopiesOptions, type Copy, copyOf, openCopies } from './shared-copies.ts';

export interface SharedSnapshotsOptions extends Pick<CopiesOptions, 'store' | 'secrets' | 'maxValueBytes' | 'now'> {
  readonly announcements: Pick<Announcements, 'evict' | 'onEviction'>;
  /** How long one replica may load while others wait. Longer loads are not shared. */
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly maxEntries: number;
  readonly events: Events;
  /** Milliseconds of a monotonic clock. @default `performance.now` */
  readonly clock?: () => number;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Bounds what is sealed and opened at once. @default 64 MiB, on half of the thread pool */
  readonly semaphore?: MemorySemaphore;
}

/** How long a list that was too large to share is loaded without a lease. */
const TOO_LARGE_MS = 600_000;

/** Snapshots that the replicas of a deployment share through Redis. While it is down, each replica loads as if it were alone. */
export function createSharedSnapshots(options: SharedSnapshotsOptions): SnapshotStore {
  const { store: redis, secrets, announcements, leaseMs, waitMs, maxEntries, events, now } = options;
  const {
    clock = () => performance.now(),
    sleep = (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }),
    semaphore = createMemorySemaphore({ maxBytes: 67_108_864, maxAtOnce: 2 }),
  } = options;
  const evictions = createEvictionIndex({ maxNames: maxEntries * secrets.length, now });
  const tooLarge = createTtlSet({ ttlMs: TOO_LARGE_MS, max: maxEntries, now: clock });
  announcements.onEviction((evicted) => void evictions.onRemoteEviction(evicted));

  return {
    wrapLoad(load, stored) {
      const { resource, cache } = stored;
      const copiesOf = openCopies({ ...options, store: redis, evictions, semaphore }, stored);

      /** Stores a load without delaying the read. */
      async function put(copies: CallerCopies, caller: Caller, loaded: Load, lease: Lease): Promise<void> {
        try {
          const outcome = await copies.put(loaded, lease);
          if (outcome === 'too_large') tooLarge.add(copies.name);
          events.sharedPut?.({ resource, outcome });
        } catch (error) {
          events.internalError?.({ ...requestOf(caller), stack: stackOf(error) });
        }
      }

      async function lookUp(
        copies: CallerCopies,
        ...[caller, signal, asked = {}]: Parameters<Loader>
      ): Promise<Lookup> {
        const { maxAgeMs = 0, isRefresh = false } = asked;
        const span = caller.span?.begin('look', { resource });
        // No caller waits for a refresh: it waits as long as the lease lasts.
        const timing = { maxAgeMs, leaseMs, waitMs: isRefresh ? leaseMs : waitMs, now, clock, sleep };
        const work = () => lookupOrLease(copies, signal, timing);
        const looked = await during(span, signal, work, ({ outcome }) => ({ shared: outcome }));
        events.sharedLooked?.({ resource, outcome: looked.outcome });
        return looked;
      }

      async function takeOrLoad(
        copies: CallerCopies,
        ...[caller, signal, asked = {}]: Parameters<Loader>
      ): Promise<Load> {
        const { known, keep } = asked;
        if (tooLarge.has(copies.name)) return load(caller, signal, { known });
        const { taken, older, lease } = await lookUp(copies, caller, signal, asked);
        let isPut = false;
        try {
          if (taken !== undefined) return { ...taken, copied: true };
          const copy = await openIfNewer(older, known?.snapshot.loadStartedAt);
          if (copy !== undefined) keep?.(copy);
          const loaded = await load(caller, signal, { known: copy ?? known });
          if (lease !== undefined) {
            isPut = true;
            void put(copies, caller, loaded, lease);
          }
          return loaded;
        } finally {
          if (lease !== undefined && !isPut) void copies.release(lease);
        }
      }

      return async (caller, signal, asked) => {
        const copies = copiesOf(caller);
        // Only keys: nothing that is kept for long holds a credential.
        const { credentialKey, cacheScope } = caller;
        const unlink = evictions.link(copies.names, { cache, resource, caller: { credentialKey, cacheScope } });
        try {
          return await takeOrLoad(copies, caller, signal, asked);
        } catch (error) {
          unlink();
          throw error;
        }
      };
    },
    evict(origin, resources, caller) {
      if (resources.length === 0) return;
      const what = resources.map((resource) => copyOf(origin, resource));
      const names = secrets.flatMap((secret) => what.map((each) => secret.nameOf(each, caller)));
      evictions.record(names);
      announcements.evict(names);
    },
  };
}

/** An older copy may still be what the upstream has, or be served if the upstream fails. */
async function openIfNewer(copy: Copy | undefined, loadedAt = Number.NEGATIVE_INFINITY): Promise<Load | undefined> {
  if (copy === undefined || copy.loadedAt <= loadedAt) return undefined;
  const opened = await copy.open();
  return opened === 'altered' ? undefined : opened;
}
