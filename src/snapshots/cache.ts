import { LRUCache } from 'lru-cache';
import type { Load } from './load.ts';
import { createPermits } from './permits.ts';
import type { Snapshot } from './snapshot.ts';

export interface CacheLimits {
  /** All that is held together: each entry counts as 2 KiB and all that was made of its bytes. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** The right of one load to store what it brings, for as long as the load lasts. */
export interface Storing {
  /** Whether it is held now. Not where the key was evicted since the load began, or a later load has stored. */
  store(load: Load): boolean;
  /** Call it once the load has ended, however it did. */
  end(): void;
}

/** Where loads are held, under the keys of `snapshot-key.ts`. Knows nothing of time. */
export interface SnapshotCache {
  get(key: string): Load | undefined;
  /** Call it when a load begins. */
  begin(key: string): Storing;
  /** Lets go of what is held, and lets no load that is under way store any more. */
  evict(key: string): void;
  /** Keeps what was made of a snapshot with it, where that is still held and there is room for more. */
  addRepresentation(key: string, of: Snapshot, name: string, made: Buffer): void;
  /** What is held, as it is charged. */
  readonly bytes: number;
  readonly entries: number;
  /** Keys under which a load is under way. */
  readonly loading: number;
}

/** Keys, objects and the table itself, for one entry: more than they take. */
const ENTRY_BYTES = 2048;
/** The same for one representation. */
const REPRESENTATION_BYTES = 256;

/** Holds what was used last, up to both limits. What is too large by itself is not held. */
export function createSnapshotCache({ maxBytes, maxEntries }: CacheLimits): SnapshotCache {
  const held = new LRUCache<string, Load>({ max: maxEntries, maxSize: maxBytes, sizeCalculation: charge });
  const permits = createPermits();
  return {
    get: (key) => held.get(key),
    begin(key) {
      const permit = permits.grant(key);
      return {
        store(load) {
          if (!permit.use()) return false;
          held.set(key, load);
          return held.has(key);
        },
        end: permit.end,
      };
    },
    evict(key) {
      permits.revoke(key);
      held.delete(key);
    },
    addRepresentation(key, { bytes }, name, made) {
      const load = held.peek(key);
      if (load?.snapshot.bytes !== bytes) return;
      const representations = Object.freeze({ ...load.snapshot.representations, [name]: made });
      const larger = { ...load, snapshot: Object.freeze({ ...load.snapshot, representations }) };
      // The cache drops an entry that outgrows it; the bytes alone are worth more than nothing.
      if (charge(larger) <= maxBytes) held.set(key, larger);
    },
    get bytes() {
      return held.calculatedSize;
    },
    get entries() {
      return held.size;
    },
    get loading() {
      return permits.size;
    },
  };
}

function charge({ snapshot: { bytes, itemStarts, representations } }: Load): number {
  let total = ENTRY_BYTES + bytes.length + itemStarts.byteLength;
  for (const name in representations) total += REPRESENTATION_BYTES + (representations[name]?.length ?? 0);
  return total;
}
