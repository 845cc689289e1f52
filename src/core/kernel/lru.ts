import { LRUCache } from 'lru-cache';

/** Keys that were added at most `ttlMs` ago (0: none); the oldest is removed first. `now` as in {@link createSizedLru}. */
export function createTtlSet({ ttlMs, max, now }: { ttlMs: number; max: number; now: () => number }) {
  const keys = createSizedLru<string, string>({ maxSize: max, now });
  return {
    add: (key: string) => keys.set(key, key, ttlMs),
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
