import { LRUCache } from 'lru-cache';

export interface TtlSetOptions {
  /** How long a key stays, counted from when it was added last. 0: not at all. */
  readonly ttlMs: number;
  /** Keys at most: the one that was added longest ago makes room. */
  readonly max: number;
  /** A clock in milliseconds that never goes back and never says 0. */
  readonly now: () => number;
}

/** Keys that were added a short while ago. Bounded, and without a timer. */
export interface TtlSet {
  /** As if it had been added so many milliseconds ago; one that was added later stays for longer. @default 0 */
  add(key: string, agoMs?: number): void;
  has(key: string): boolean;
  delete(key: string): void;
}

export function createTtlSet({ ttlMs, max, now }: TtlSetOptions): TtlSet {
  const keys = new LRUCache<string, true>({
    // Not by `max`, for which lru-cache takes memory at once: 400 KB for 10,000 keys that may never come.
    maxSize: max,
    sizeCalculation: () => 1,
    // 0 would keep keys for ever.
    ttl: Math.max(ttlMs, 1),
    // Above 0 it starts timers.
    ttlResolution: 0,
    perf: { now },
  });
  return {
    add(key, agoMs = 0) {
      const leftMs = ttlMs - agoMs;
      if (leftMs > 0 && leftMs >= keys.getRemainingTTL(key)) keys.set(key, true, { ttl: leftMs });
    },
    has: (key) => keys.has(key),
    delete(key) {
      keys.delete(key);
    },
  };
}
