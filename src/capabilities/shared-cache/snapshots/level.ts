import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '../../../core/kernel/caller.ts';
import { createTtlSet, type TtlSet } from '../../../core/kernel/tables/ttl-set.ts';
import { createFollowed, type Followed } from './followed.ts';
import { createInHand, type InHand } from './in-hand.ts';
import { createPatience, type Patience } from './patience.ts';
import type { SharedStore } from './store.ts';

/** What is made of a caller's credential by a secret of the deployment. */
export interface CallerSecret {
  /** Keyed hash of a text, base64url. */
  keyOf(text: string): string;
  /** Name of something that is this caller's alone. */
  nameOf(what: string, caller: Caller): string;
  /** The key by which this caller's own is sealed. */
  sealingKeyOf(caller: Caller): Buffer;
}

/** What a denial speaks of, beside the caller: one resource, wherever it is read from. */
export function sharedAs(origin: string, resource: string): string {
  return JSON.stringify([origin, resource]);
}

export interface SharedLevelOptions {
  readonly store: SharedStore;
  /** The current one, under which is written; and those before it, under which is looked and evicted, too. */
  readonly secrets: readonly [CallerSecret, ...CallerSecret[]];
  /** How long one replica may load while others wait: no shorter than loads take, or they are not shared. */
  readonly leaseMs: number;
  /** How long a read waits for another replica's load, in milliseconds. */
  readonly waitMs: number;
  /** Longest value that is put, sealed. */
  readonly maxValueBytes: number;
  /** Names that are followed at most. */
  readonly maxNames: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. @default `performance.now` */
  readonly clock?: () => number;
  /** Resolves after so many milliseconds, or rejects once the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** The second level of the snapshots of one process, whatever its settings are by now. */
export interface SharedLevel extends Required<Omit<SharedLevelOptions, 'maxNames'>> {
  readonly followed: Followed;
  /** Bounds what is being sealed and opened. */
  readonly inHand: InHand;
  readonly patience: Patience;
  /** Names of lists that were too long a while ago: nobody waits for those. */
  readonly tooLong: TtlSet;
  /** An upstream has denied a caller these resources: what was loaded until now serves nobody any more, on no replica. */
  evict(origin: string, resources: readonly string[], caller: Caller): void;
  /** Hears of no eviction any more. */
  close(): void;
}

/** How long a list that was too long is taken for one that still is. */
const TOO_LONG_MS = 600_000;

const IN_HAND = {
  /** Of values in memory, sealed and opened, beside what the first level is charged for. */
  maxBytes: 67_108_864,
  /** Half of the thread pool, as with what is compressed for clients. */
  maxAtOnce: 2,
};

export function createSharedLevel({ maxNames, ...options }: SharedLevelOptions): SharedLevel {
  const { store, secrets, now } = options;
  const followed = createFollowed({ maxNames, now });
  const clock = options.clock ?? (() => performance.now());
  const close = store.onEvicted((names) => void followed.heard(names));

  return {
    sleep: (ms, signal) => pause(ms, undefined, { signal }),
    ...options,
    clock,
    followed,
    inHand: createInHand(IN_HAND),
    patience: createPatience({ waitMs: options.waitMs, pauseMs: options.leaseMs, clock }),
    tooLong: createTtlSet({ ttlMs: TOO_LONG_MS, max: maxNames, now: clock }),
    evict(origin, resources, caller) {
      if (resources.length === 0) return;
      const what = resources.map((resource) => sharedAs(origin, resource));
      const names = secrets.flatMap((secret) => what.map((each) => secret.nameOf(each, caller)));
      followed.evicted(names);
      void store.evict(names);
    },
    close,
  };
}
