import { createKeyOf, type KeyOf } from './credentials/authenticate.ts';
import { NO_SNAPSHOT_STORE, type SnapshotStore } from './reads/snapshots/with-cache.ts';
import { NO_REJECTION_STORE, type RejectionStore } from './upstream/resilience/with-authorization.ts';

/** Counters shared by all replicas of a deployment. */
export interface SharedCounts {
  /**
   * Adds units to these counters, whose windows start with the first unit. Resolves with their states; `undefined` when the
   * store is unreachable. Never rejects.
   */
  add(
    units: ReadonlyMap<string, number>,
    windowMs: number,
  ): Promise<readonly ({ readonly total: number; readonly restMs: number } | undefined)[]>;
  /** Keyed hash of a text, equal on all replicas: the counter's name in the store. */
  nameOf(text: string): string;
}

/** State that the replicas of a deployment share. */
export interface Sharing {
  /** Builds keys of callers: the same on all replicas. */
  readonly keyOf: KeyOf;
  /** The second level of snapshots. */
  readonly snapshots: SnapshotStore;
  /** Credentials that upstreams have rejected. */
  readonly rejections: RejectionStore;
  /** Counters; `undefined` where each replica counts alone. */
  readonly counts: SharedCounts | undefined;
  /** How long a read waits for another replica, in milliseconds at most. */
  readonly waitMs: number;
}

/** A process that shares nothing: its keys are random. */
export function shareNothing(): Sharing {
  return {
    keyOf: createKeyOf(),
    snapshots: NO_SNAPSHOT_STORE,
    rejections: NO_REJECTION_STORE,
    counts: undefined,
    waitMs: 0,
  };
}
