import { LRUCache } from 'lru-cache';

export interface TtlSetOptions {
  /** Lifetime of a key since it was last added. 0: keys are not kept. */
  readonly ttlMs: number;
  /** Maximum number of keys; the oldest is removed first. */
  readonly max: number;
  /** Monotonic clock in milliseconds that never returns 0. */
  readonly now: () => number;
}

/** Keys that were added recently. Bounded, without timers. */
export interface TtlSet {
  /** Age of the key in milliseconds when added. A key added later keeps its longer lifetime. @default 0 */
  add(key: string, agoMs?: number): void;
  has(key: string): boolean;
  delete(key: string): void;
}

export function createTtlSet({ ttlMs, max, now }: TtlSetOptions): TtlSet {
  const keys = new LRUCache<string, true>({
    // Not `max`: lru-cache allocates for it immediately, 400 KB for 10,000 keys.
    maxSize: max,
    sizeCalculation: () => 1,
    // 0 would keep keys forever.
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
