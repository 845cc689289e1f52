import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';

/** Keys that were added at most `ttlMs` ago (0: none); the oldest is removed first. `now` as in {@link createSizedLru}. */
export function createTtlSet({ ttlMs, max, now }: { ttlMs: number; max: number; now: () => number }) {
  const keys = createSizedLru<string, string>({ maxSize: max, now });
  return {
    /** Adds a key of this age. A key added later keeps its longer lifetime. @default 0 */
    add(key: string, agoMs = 0): void {
      const leftMs = ttlMs - agoMs;
      if (leftMs >= keys.leftMs(key)) keys.set(key, key, leftMs);
    },
    has: keys.has,
    delete: keys.delete,
  };
}

/** Sizes are integers above 0; an entry larger than `maxSize` is not kept. `now`: clock in milliseconds that never returns 0. */
export function createSizedLru<K extends object | string, V extends object | string>({
  maxSize,
  sizeOf = () => 1,
  now = () => performance.now(),
  onDisplaced,
}: {
  readonly maxSize: number;
  readonly sizeOf?: (value: V, key: K) => number;
  readonly now?: () => number;
  /** Called with an entry that was removed to make room. */
  readonly onDisplaced?: (value: V) => void;
}) {
  const held = new LRUCache<K, V>({
    // Not `max`: lru-cache allocates for it immediately, 400 KB for 10,000 keys.
    ...{ maxSize, sizeCalculation: sizeOf },
    // A resolution above 0 starts timers.
    ...{ ttlResolution: 0, perf: { now } },
    ...(onDisplaced && { dispose: (value: V, _: K, reason: string) => reason === 'evict' && onDisplaced(value) }),
  });
  return {
    values: () => [...held.values()],
    get: (key: K) => held.get(key),
    /** Unlike `get`, leaves the order as it is. */
    has: (key: K) => held.has(key),
    leftMs: (key: K) => held.getRemainingTTL(key),
    /** An entry without a lifetime left is not kept. @default no bound on its lifetime */
    set(key: K, value: V, ttlMs?: number): void {
      if (ttlMs === undefined) held.set(key, value);
      else if (ttlMs > 0) held.set(key, value, { ttl: ttlMs });
    },
    delete(key: K): void {
      held.delete(key);
    },
  };
}

/** Counts occupied slots per key. `undefined` is no key and takes none. */
export function createPlaces() {
  const places = new Map<string, number>();
  const taken = (key: string | undefined) => (key === undefined ? 0 : (places.get(key) ?? 0));
  return {
    taken,
    take(key: string | undefined): void {
      if (key !== undefined) places.set(key, taken(key) + 1);
    },
    release(key: string | undefined): void {
      if (key === undefined) return;
      if (taken(key) > 1) places.set(key, taken(key) - 1);
      else places.delete(key);
    },
  };
}

export type CallerPlaces = ReturnType<typeof createCallerPlaces>;

/** Unverified callers of one address get at most half of the places, whatever tokens they make up. */
export function createCallerPlaces({
  max,
  maxPerCaller,
  bounds: [maxName, maxPerCallerName],
  taken: [by, state],
}: {
  /** Places of all callers. May change. */
  readonly max: () => number;
  readonly maxPerCaller: number;
  readonly bounds: readonly [max: string, maxPerCaller: string];
  /** What takes places, and the state in which it does: `reads`, `waiting`. */
  readonly taken: readonly [by: string, state: string];
}) {
  const ofCallers = createPlaces();
  const ofAddresses = createPlaces();
  let total = 0;

  function refuse(bound: string, whose: string, reason = `${bound} is reached`): never {
    throw new GatewayError('overloaded', { detail: `Too many ${by}${whose} are ${state} already.`, reason, bound });
  }

  return {
    get total() {
      return total;
    },
    /** Throws `overloaded`. */
    enter({ credentialKey: key, address }: Pick<Caller, 'credentialKey' | 'address'>): void {
      const most = max();
      if (ofCallers.taken(key) >= maxPerCaller) refuse(maxPerCallerName, ' with this access token');
      if (total >= most) refuse(maxName, '');
      if (ofAddresses.taken(address) >= Math.ceil(most / 2)) {
        refuse(maxName, ' from this address', `half of ${maxName} is reached by one address`);
      }
      ofCallers.take(key);
      ofAddresses.take(address);
      total += 1;
    },
    leave({ credentialKey: key, address }: Pick<Caller, 'credentialKey' | 'address'>): void {
      ofCallers.release(key);
      ofAddresses.release(address);
      total -= 1;
    },
  };
}

export type Users = ReturnType<typeof createUsers>;

/** Counts the users of something that must not be closed while in use. */
export function createUsers() {
  const waiting: (() => void)[] = [];
  /** Ends each user early. */
  const cuts = new Set<() => void>();
  let count = 0;

  /** `cut` ends the user early, and is given to `leave`, too. */
  function enter(cut?: () => void): void {
    count += 1;
    if (cut !== undefined) cuts.add(cut);
  }

  function leave(cut?: () => void): void {
    count -= 1;
    if (cut !== undefined) cuts.delete(cut);
    if (count === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    enter,
    leave,
    during:
      <In extends readonly unknown[], Out>(work: (...given: In) => Promise<Out>) =>
      async (...given: In): Promise<Out> => {
        enter();
        try {
          return await work(...given);
        } finally {
          leave();
        }
      },
    /** Resolves when nothing uses it any more. Cuts those that are left after `withinMs`. */
    async none(withinMs: number): Promise<void> {
      if (count === 0) return;
      const timeout = new AbortController();
      const idle = new Promise<void>((resolve) => waiting.push(resolve));
      const late = sleep(withinMs, undefined, { signal: timeout.signal, ref: false }).then(
        () => {
          for (const cut of cuts) cut();
        },
        () => {},
      );
      await Promise.race([idle, late]);
      timeout.abort();
    },
  };
}

/** Runs work that takes `bytes` of memory, or resolves with `overloaded` beyond the bound. One piece always runs, however large. */
export type MemorySemaphore = <T>(bytes: number, work: () => Promise<T>) => Promise<T | 'overloaded'>;

/** Acquires `maxBytes` at most; `maxAtOnce` pieces of work run, and the others wait in order. */
export function createMemorySemaphore(bounds: {
  readonly maxBytes: number;
  readonly maxAtOnce: number;
}): MemorySemaphore {
  const { maxBytes, maxAtOnce } = bounds;
  const waiting: (() => void)[] = [];
  let acquired = 0;
  let running = 0;

  return async (bytes, work) => {
    if (acquired > 0 && acquired + bytes > maxBytes) return 'overloaded';
    acquired += bytes;
    if (running < maxAtOnce) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      acquired -= bytes;
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
