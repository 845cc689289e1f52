import { LRUCache } from 'lru-cache';
import type { Caller } from '../../../core/kernel/caller.ts';
import { nextTurn } from '../../../core/kernel/turns.ts';
import { isShared, type SnapshotCache } from '../../../core/reads/snapshots/cache.ts';

/** What the first level may hold of one caller and resource, or will once what is under way has ended. */
export interface HeldHere {
  readonly cache: SnapshotCache;
  readonly resource: string;
  readonly caller: Pick<Caller, 'key' | 'partition'>;
}

/** What the names of the second level stand for in the first one, and what was evicted under them. */
export interface Followed {
  /**
   * From now on an eviction of any of these names lets go of it. Call it before a load begins. Gives a function that ends this,
   * where nothing is held after all: made-up tokens would take the place of others.
   */
  follow(names: readonly string[], held: HeldHere): () => void;
  /** Whether a copy that was loaded then, in milliseconds since the epoch, was loaded after the last eviction that is known of. */
  isSinceEviction(name: string, loadedAt: number): boolean;
  /** An upstream has denied this process what stands under these names: no older copy is taken any more. */
  evicted(names: readonly string[]): void;
  /** So it has to another replica, or nobody knows which names: the first level lets go, too. */
  heard(names: readonly string[] | 'unknown'): Promise<void>;
}

/** Places for evictions, each a time. Pages of memory that are not written to are not taken. */
const PLACES = 1_048_576;
/** Names that are let go of in one turn of the event loop: about a millisecond. */
const STEP_NAMES = 500;

export interface FollowedOptions {
  /** Names that are followed at most. */
  readonly maxNames: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Bounded, and forgets nothing that matters: what is not followed any more is not held any more, and evictions are remembered by
 * a part of a hash of the name, so that those of made-up tokens, however many, cost few others a copy.
 */
export function createFollowed({ maxNames, now }: FollowedOptions): Followed {
  const held = new LRUCache<string, HeldHere>({
    maxSize: maxNames,
    sizeCalculation: () => 1,
    dispose(forgotten, _name, reason) {
      if (reason === 'evict') letGo(forgotten);
    },
  });
  const evictedAt = new Float64Array(PLACES);

  function letGo({ cache, resource, caller }: HeldHere): void {
    cache.evict(resource, caller);
  }

  function letGoOf(name: string): void {
    const here = held.peek(name);
    if (here !== undefined) letGo(here);
  }

  function evicted(names: readonly string[]): void {
    const at = now();
    for (const name of names) {
      const place = placeOf(name);
      // A clock that goes back makes no eviction older.
      evictedAt[place] = Math.max(evictedAt[place] ?? 0, at);
    }
  }

  return {
    follow(names, here) {
      for (const name of names) held.set(name, here);
      return () => {
        // By now a later load may be followed under the same names.
        if (isHeld(here)) return;
        for (const name of names) if (held.peek(name) === here) held.delete(name);
      };
    },
    isSinceEviction: (name, loadedAt) => loadedAt > (evictedAt[placeOf(name)] ?? 0),
    evicted,
    async heard(names) {
      if (names !== 'unknown') evicted(names);
      // Of all names this is a long list, in which others have their turn.
      let step = 0;
      for (const name of names === 'unknown' ? [...held.keys()] : names) {
        letGoOf(name);
        step += 1;
        if (step % STEP_NAMES === 0) await nextTurn();
      }
    },
  };
}

function placeOf(name: string): number {
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0;
  return (hash >>> 0) % PLACES;
}

/** Whether the first level has something that would serve the caller. */
function isHeld({ cache, resource, caller }: HeldHere): boolean {
  if (isShared(caller)) return cache.admittedAt(resource, caller) > Number.NEGATIVE_INFINITY;
  return cache.get(resource, caller) !== undefined;
}
