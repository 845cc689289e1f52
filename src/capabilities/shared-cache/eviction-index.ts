import type { Caller } from '../../core/kernel/caller.ts';
import { createSizedLru } from '../../core/kernel/tables.ts';
import { nextTurn } from '../../core/kernel/turns.ts';
import { isShared, type Snapshots } from '../../core/reads/snapshots/cache.ts';
import type { Evicted } from './announcements.ts';

export interface CacheEntry {
  readonly cache: Snapshots;
  readonly resource: string;
  readonly caller: Pick<Caller, 'credentialKey' | 'cacheScope'>;
}

/** Slots for times of evictions, by a hash of the name. Memory pages that are never written to are not allocated. */
const SLOTS = 1_048_576;
/** Entries that are evicted in one turn of the event loop: about a millisecond. */
const STEP = 500;

export type EvictionIndex = ReturnType<typeof createEvictionIndex>;

/**
 * Maps the names of stored values to entries of the cache, and remembers when values were evicted. Bounded without losing an eviction:
 * an entry whose link is displaced is evicted, and evictions share slots, so that many of made-up tokens cost other callers few copies.
 * `now`: milliseconds since the epoch.
 */
export function createEvictionIndex({ maxNames, now }: { readonly maxNames: number; readonly now: () => number }) {
  const entries = createSizedLru<string, CacheEntry>({ maxSize: maxNames, onDisplaced: evictEntry });
  const evictedAt = new Float64Array(SLOTS);
  let allEvictedAt = 0;

  function record(names: readonly string[]): void {
    const at = now();
    for (const name of names) {
      const slot = slotOf(name);
      // A clock that is set back makes no eviction older.
      evictedAt[slot] = Math.max(evictedAt[slot] ?? 0, at);
    }
  }

  return {
    /** Call it before a load begins. Returns what removes the links if the entry holds nothing: made-up tokens would displace others. */
    link(names: readonly string[], entry: CacheEntry) {
      for (const name of names) entries.set(name, entry);
      return () => {
        if (isHeld(entry)) return;
        // A later load may have linked the same names.
        for (const name of names) if (entries.get(name) === entry) entries.delete(name);
      };
    },
    /** Whether a value that was loaded at `loadedAt`, in milliseconds since the epoch, is younger than the last eviction. */
    isCurrent: (name: string, loadedAt: number) => loadedAt > Math.max(evictedAt[slotOf(name)] ?? 0, allEvictedAt),
    record,
    /** Records evictions of another replica, and evicts the linked entries. */
    async onRemoteEviction(evicted: Evicted) {
      if (evicted === 'all') allEvictedAt = Math.max(allEvictedAt, now());
      else record(evicted);
      let step = 0;
      for (const entry of evicted === 'all' ? entries.values() : evicted.map(entries.get)) {
        if (entry !== undefined) evictEntry(entry);
        step += 1;
        if (step % STEP === 0) await nextTurn();
      }
    },
  };
}

function evictEntry({ cache, resource, caller }: CacheEntry): void {
  cache.evict(resource, caller);
}

function slotOf(name: string): number {
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0;
  return (hash >>> 0) % SLOTS;
}

function isHeld({ cache, resource, caller }: CacheEntry): boolean {
  if (isShared(caller)) return cache.admittedAt(resource, caller) > Number.NEGATIVE_INFINITY;
  return cache.get(resource, caller) !== undefined;
}
