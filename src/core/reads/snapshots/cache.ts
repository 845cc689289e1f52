import { LRUCache } from 'lru-cache';
import type { Caller } from '../../kernel/caller.ts';
import type { Events } from '../../kernel/events.ts';
import type { Load } from './load.ts';
import type { Snapshot } from './snapshot.ts';

interface CacheBounds {
  /** Each entry counts 2 KiB and all its representations. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

type CallerKeys = Pick<Caller, 'credentialKey' | 'cacheScope'>;

/** A load's result may be stored while its epoch lasts. */
export interface StoreTicket {
  /** False if the caller was evicted since, or a later load has stored. */
  store(load: Load): boolean;
  /** Stores a copy that was loaded for this caller earlier. Never replaces newer entries or prevents loads from storing. */
  keep(copy: Load): boolean;
  /** Call it when the load has ended, in any way. */
  end(): void;
}

/** Stored loads. Snapshots belong to a cache scope, which several credentials may share; all else belongs to one credential. */
export interface Snapshots {
  keyOf(resource: string, caller: CallerKeys): string;
  get(resource: string, caller: CallerKeys): Load | undefined;
  /** Start of the caller's last own load (ms; Infinity for a private cache scope): the age of what it may be served of others. */
  lastOwnLoadAt(resource: string, caller: CallerKeys): number;
  begin(resource: string, caller: CallerKeys): StoreTicket;
  /** Ends the caller's epoch: nothing it was shown serves it, and its loads in flight do not store. */
  evict(resource: string, caller: CallerKeys): void;
}

/** All stored loads, within the bounds of the cache. */
export interface SnapshotCache extends Snapshots {
  /** Keeps a representation with its snapshot, if that is stored and there is room. */
  addRepresentation(key: string, of: Snapshot, name: string, made: Buffer): void;
  drop(resource: string): void;
  readonly bytes: number;
  readonly entries: number;
  readonly loading: number;
}

/** Charge for keys, objects and the table; above the actual size. */
const ENTRY_BYTES = 2048;
const REPRESENTATION_BYTES = 256;

interface PendingLoad {
  readonly key: string;
  readonly callerKey: string;
  /** The caller was evicted since it started. */
  revoked: boolean;
  /** A later load has stored. */
  superseded: boolean;
}

/** The only function that builds such keys. */
function snapshotKey(resource: string, cacheScope: string): string {
  return `${cacheScope} ${resource}`;
}

/** Returns whether a caller's cache scope may contain loads of others. */
export function isShared({ credentialKey, cacheScope }: CallerKeys): boolean {
  return credentialKey !== cacheScope;
}

/** An entry that exceeds a bound alone is not kept. */
export function createSnapshotCache({ maxBytes, maxEntries }: CacheBounds, events: Events = {}): SnapshotCache {
  const held = new LRUCache<string, Load>({
    // `maxEntries` is not its `max`, for which lru-cache allocates immediately, in some milliseconds.
    maxSize: maxBytes,
    sizeCalculation: charge,
    dispose(_load, key, reason) {
      // Without what `namesInCache` adds to the name of a resource.
      const [resource = ''] = key.slice(key.indexOf(' ') + 1).split('~');
      if (reason === 'evict') events.snapshotDisplaced?.({ resource });
    },
  });
  const emitHeld = () => events.snapshotsHeld?.({ bytes: held.calculatedSize, entries: held.size });
  const hold = (key: string, load: Load) => {
    held.set(key, load);
    if (held.size > maxEntries) held.pop();
    emitHeld();
    return held.has(key);
  };
  const admitted = new LRUCache<string, number>({ maxSize: maxEntries, sizeCalculation: () => 1 });
  // In starting order. Replaces an eviction counter per key, which would never end.
  const inFlight = new Set<PendingLoad>();
  return {
    keyOf: (resource, { cacheScope }) => snapshotKey(resource, cacheScope),
    get: (resource, { cacheScope }) => held.get(snapshotKey(resource, cacheScope)),
    lastOwnLoadAt(resource, caller) {
      if (!isShared(caller)) return Number.POSITIVE_INFINITY;
      return admitted.get(snapshotKey(resource, caller.credentialKey)) ?? Number.NEGATIVE_INFINITY;
    },
    begin(resource, caller) {
      const key = snapshotKey(resource, caller.cacheScope);
      const token: PendingLoad = { key, callerKey: caller.credentialKey, revoked: false, superseded: false };
      inFlight.add(token);
      return {
        store(load) {
          if (token.revoked) return false;
          if (isShared(caller)) admitted.set(snapshotKey(resource, caller.credentialKey), load.snapshot.loadStartedAt);
          if (token.superseded) return false;
          for (const earlier of inFlight) {
            if (earlier === token) break;
            if (earlier.key === key) earlier.superseded = true;
          }
          return hold(key, load);
        },
        keep(copy) {
          if (token.revoked) return false;
          const { loadStartedAt } = copy.snapshot;
          if (isShared(caller)) {
            const callerKey = snapshotKey(resource, caller.credentialKey);
            admitted.set(callerKey, Math.max(loadStartedAt, admitted.get(callerKey) ?? loadStartedAt));
          }
          if ((held.peek(key)?.snapshot.loadStartedAt ?? loadStartedAt) > loadStartedAt) return false;
          return hold(key, copy);
        },
        end() {
          inFlight.delete(token);
        },
      };
    },
    evict(resource, caller) {
      const key = snapshotKey(resource, caller.cacheScope);
      for (const token of inFlight)
        if (token.key === key && token.callerKey === caller.credentialKey) token.revoked = true;
      if (isShared(caller)) admitted.delete(snapshotKey(resource, caller.credentialKey));
      else if (held.delete(key)) emitHeld();
    },
    addRepresentation(key, { bytes }, name, made) {
      const load = held.peek(key);
      if (load?.snapshot.bytes !== bytes) return;
      const representations = Object.freeze({ ...load.snapshot.representations, [name]: made });
      const larger = { ...load, snapshot: Object.freeze({ ...load.snapshot, representations }) };
      // An entry that outgrows the cache would be dropped; its bytes alone are worth keeping.
      if (charge(larger) > maxBytes) return;
      hold(key, larger);
    },
    drop(resource) {
      const ending = snapshotKey(resource, '');
      for (const key of held.keys()) if (key.endsWith(ending)) held.delete(key);
      emitHeld();
      for (const key of admitted.keys()) if (key.endsWith(ending)) admitted.delete(key);
    },
    get bytes() {
      return held.calculatedSize;
    },
    get entries() {
      return held.size;
    },
    get loading() {
      return inFlight.size;
    },
  };
}

/** Returns the snapshots of a cache under other names for these resources, each with one of its own. */
export function withResourceNames(cache: SnapshotCache, names: ReadonlyMap<string, string>): Snapshots {
  const nameOf = (resource: string) => names.get(resource) ?? resource;
  return {
    keyOf: (resource, caller) => cache.keyOf(nameOf(resource), caller),
    get: (resource, caller) => cache.get(nameOf(resource), caller),
    lastOwnLoadAt: (resource, caller) => cache.lastOwnLoadAt(nameOf(resource), caller),
    begin: (resource, caller) => cache.begin(nameOf(resource), caller),
    evict: (resource, caller) => cache.evict(nameOf(resource), caller),
  };
}

function charge({ snapshot: { bytes, itemStarts, representations } }: Load): number {
  let total = ENTRY_BYTES + bytes.length + itemStarts.byteLength;
  for (const name in representations) {
    total += REPRESENTATION_BYTES + 2 * name.length + (representations[name]?.length ?? 0);
  }
  return total;
}
