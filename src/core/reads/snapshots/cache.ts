import { LRUCache } from 'lru-cache';
import type { Caller } from '../../kernel/caller.ts';
import type { Events } from '../../kernel/events.ts';
import type { Load } from './load.ts';
import type { Snapshot } from './snapshot.ts';

export interface CacheBounds {
  /** All that is held together: each entry counts as 2 KiB and all that was made of its bytes. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** Who asks, as far as the cache needs to know. */
type CallerKeys = Pick<Caller, 'key' | 'partition'>;

/** The epoch in which a load began: what it brings may be stored as long as the epoch lasts. */
export interface Epoch {
  /** Whether the load is held now. Not where the caller was evicted since it began, or a later load has stored. */
  store(load: Load): boolean;
  /**
   * The same for what was loaded for the very caller before the epoch began. It takes the place of nothing that is newer, and
   * keeps no load from being stored.
   */
  keep(copy: Load): boolean;
  /** Call it once the load has ended, however it did. */
  end(): void;
}

/**
 * Where loads are held. Snapshots belong to a partition, which several credentials may share; everything else here belongs
 * to one credential. Knows nothing of time.
 */
export interface SnapshotCache {
  /** What the caller's partition holds of a resource is held under this key. */
  keyOf(resource: string, caller: CallerKeys): string;
  /** What the caller's partition holds of a resource. */
  get(resource: string, caller: CallerKeys): Load | undefined;
  /**
   * When the last load of the resource began that the upstream gave this very caller (milliseconds since the epoch; -Infinity
   * for none): what others have loaded into a shared partition serves it no longer than that load would. Infinity where the
   * partition is the caller's alone.
   */
  admittedAt(resource: string, caller: CallerKeys): number;
  /** Call it when a load begins. */
  begin(resource: string, caller: CallerKeys): Epoch;
  /**
   * Ends the caller's epoch: nothing that it was shown so far serves it, and no load of it that is under way stores. Of a
   * shared partition the others keep what is held.
   */
  evict(resource: string, caller: CallerKeys): void;
  /**
   * Keeps what was made of a snapshot with it, where that is still held, has fewer than `atMost` representations, and there
   * is room for more.
   */
  addRepresentation(key: string, of: Snapshot, name: string, made: Buffer, atMost?: number): void;
  /** Lets go of everything that is held of a resource. */
  drop(resource: string): void;
  /** What is held, as it is charged. */
  readonly bytes: number;
  readonly entries: number;
  /** Snapshots that are being loaded. */
  readonly loading: number;
}

/** Keys, objects and the table itself, for one entry: more than they take. */
const ENTRY_BYTES = 2048;
/** The same for one representation, without its name. */
const REPRESENTATION_BYTES = 256;

/** A load that is under way. */
interface Token {
  readonly callerKey: string;
  /** The caller was evicted since it began. */
  revoked: boolean;
  /** A load that began later has stored. */
  superseded: boolean;
}

/** Key of a snapshot: the one function that builds such keys. */
function snapshotKey(resource: string, partition: string): string {
  return `${partition} ${resource}`;
}

/** Whether others may have loaded what a caller's partition holds. */
export function isShared({ key, partition }: CallerKeys): boolean {
  return key !== partition;
}

/** Holds what was used last, up to both bounds. What is too large by itself is not held. */
export function createSnapshotCache({ maxBytes, maxEntries }: CacheBounds, events: Events = {}): SnapshotCache {
  const held = new LRUCache<string, Load>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: charge,
    dispose(_load, key, reason) {
      if (reason === 'evict') events.snapshotDisplaced?.({ resource: key.slice(key.indexOf(' ') + 1) });
    },
  });
  const tellHeld = () => events.snapshotsHeld?.({ bytes: held.calculatedSize, entries: held.size });
  const admitted = new LRUCache<string, number>({ max: maxEntries });
  // Loads by snapshot, in the order in which they began. That does what a counter of evictions for each key would do, and
  // ends with the loads, where counters would have to be kept for ever.
  const underWay = new Map<string, Set<Token>>();
  return {
    keyOf: (resource, { partition }) => snapshotKey(resource, partition),
    get: (resource, { partition }) => held.get(snapshotKey(resource, partition)),
    admittedAt(resource, caller) {
      if (!isShared(caller)) return Number.POSITIVE_INFINITY;
      return admitted.get(snapshotKey(resource, caller.key)) ?? Number.NEGATIVE_INFINITY;
    },
    begin(resource, caller) {
      const key = snapshotKey(resource, caller.partition);
      const tokens = underWay.get(key) ?? new Set();
      const token: Token = { callerKey: caller.key, revoked: false, superseded: false };
      underWay.set(key, tokens.add(token));
      return {
        store(load) {
          if (token.revoked) return false;
          if (isShared(caller)) admitted.set(snapshotKey(resource, caller.key), load.snapshot.loadedAt);
          if (token.superseded) return false;
          for (const earlier of tokens) {
            if (earlier === token) break;
            earlier.superseded = true;
          }
          held.set(key, load);
          tellHeld();
          return held.has(key);
        },
        keep(copy) {
          if (token.revoked) return false;
          const { loadedAt } = copy.snapshot;
          if (isShared(caller)) {
            const callerKey = snapshotKey(resource, caller.key);
            admitted.set(callerKey, Math.max(loadedAt, admitted.get(callerKey) ?? loadedAt));
          }
          if ((held.peek(key)?.snapshot.loadedAt ?? loadedAt) > loadedAt) return false;
          held.set(key, copy);
          tellHeld();
          return held.has(key);
        },
        end() {
          tokens.delete(token);
          if (tokens.size === 0) underWay.delete(key);
        },
      };
    },
    evict(resource, caller) {
      const key = snapshotKey(resource, caller.partition);
      for (const token of underWay.get(key) ?? []) if (token.callerKey === caller.key) token.revoked = true;
      if (isShared(caller)) admitted.delete(snapshotKey(resource, caller.key));
      else if (held.delete(key)) tellHeld();
    },
    addRepresentation(key, { bytes }, name, made, atMost = Number.POSITIVE_INFINITY) {
      const load = held.peek(key);
      if (load?.snapshot.bytes !== bytes || Object.keys(load.snapshot.representations).length >= atMost) return;
      const representations = Object.freeze({ ...load.snapshot.representations, [name]: made });
      const larger = { ...load, snapshot: Object.freeze({ ...load.snapshot, representations }) };
      // The cache drops an entry that outgrows it; the bytes alone are worth more than nothing.
      if (charge(larger) > maxBytes) return;
      held.set(key, larger);
      tellHeld();
    },
    drop(resource) {
      const ending = snapshotKey(resource, '');
      for (const key of held.keys()) if (key.endsWith(ending)) held.delete(key);
      tellHeld();
      for (const key of admitted.keys()) if (key.endsWith(ending)) admitted.delete(key);
    },
    get bytes() {
      return held.calculatedSize;
    },
    get entries() {
      return held.size;
    },
    get loading() {
      return underWay.size;
    },
  };
}

/** The same cache, in which each resource is held under another name. `nameOf` must tell all of them apart. */
export function renamed(cache: SnapshotCache, nameOf: (resource: string) => string): SnapshotCache {
  return {
    keyOf: (resource, caller) => cache.keyOf(nameOf(resource), caller),
    get: (resource, caller) => cache.get(nameOf(resource), caller),
    admittedAt: (resource, caller) => cache.admittedAt(nameOf(resource), caller),
    begin: (resource, caller) => cache.begin(nameOf(resource), caller),
    evict: (resource, caller) => cache.evict(nameOf(resource), caller),
    addRepresentation: cache.addRepresentation,
    drop: (resource) => cache.drop(nameOf(resource)),
    get bytes() {
      return cache.bytes;
    },
    get entries() {
      return cache.entries;
    },
    get loading() {
      return cache.loading;
    },
  };
}

function charge({ snapshot: { bytes, itemStarts, representations } }: Load): number {
  let total = ENTRY_BYTES + bytes.length + itemStarts.byteLength;
  for (const name in representations) {
    total += REPRESENTATION_BYTES + 2 * name.length + (representations[name]?.length ?? 0);
  }
  return total;
}
