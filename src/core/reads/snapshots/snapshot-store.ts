import type { Caller } from '../../kernel/caller.ts';
import type { Snapshots } from './cache.ts';
import type { Loader } from './load.ts';
import type { Lifetime } from './with-snapshots.ts';

/** A resource that is stored, and what its lists depend on. */
export interface StoredResource {
  readonly resource: string;
  /** Holds the snapshots of this process. */
  readonly cache: Snapshots;
  readonly lifetime: Lifetime;
  /** Base URL of the upstream: a denial applies to whatever is read from there. */
  readonly origin: string;
  /** Text of everything else that a list depends on, except the caller. */
  readonly reading: string;
  /** Longest list, in bytes. */
  readonly maxBytes: number;
}

/** A second level of snapshots, behind the cache of this process. */
export interface SnapshotStore {
  /** Wraps a load: it may return a copy that was loaded earlier for the same caller. If the store fails, `load` runs as if there were none. */
  wrapLoad(load: Loader, stored: StoredResource): Loader;
  /** Removes what the store holds of these resources for a caller whom the upstream has denied them. */
  evict(origin: string, resources: readonly string[], caller: Caller): void;
}

/** The store of a process that has none. */
export const NO_SNAPSHOT_STORE: SnapshotStore = { wrapLoad: (load) => load, evict() {} };

/** How the reads of one resource use a store. */
export interface StoreUse extends Pick<StoredResource, 'origin' | 'reading' | 'maxBytes'> {
  readonly store: SnapshotStore;
  /** Resources of the same upstream that are stored: a denial of others does not concern the store. */
  readonly storedSiblings: readonly string[];
}

export const NO_STORE_USE: StoreUse = {
  store: NO_SNAPSHOT_STORE,
  origin: '',
  reading: '',
  maxBytes: 0,
  storedSiblings: [],
};
