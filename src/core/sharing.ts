import { createKeyOf, type KeyOf } from './credentials/authenticate.ts';
import { NO_SNAPSHOT_STORE, type SnapshotStore } from './reads/snapshots/with-cache.ts';

/** Counters shared by all replicas of a deployment. */
export interface SharedCounts {
  /** Resolves with the state of each, in order; `undefined` when the store is unreachable. Never rejects. */
  add(
    units: ReadonlyMap<string, number>,
    windowMs: number,
  ): Promise<readonly ({ readonly total: number; readonly restMs: number } | undefined)[]>;
  /** Name of a counter in the store, equal on all replicas. */
  nameOf(text: string): string;
}

/** State that the replicas of a deployment share. */
export interface Sharing {
  readonly keyOf: KeyOf;
  readonly snapshots: SnapshotStore;
  /** Counters; `undefined` where each replica counts alone. */
  readonly counts: SharedCounts | undefined;
}

export function shareNothing(): Sharing {
  return {
    keyOf: createKeyOf(),
    snapshots: NO_SNAPSHOT_STORE,
    counts: undefined,
  };
}
