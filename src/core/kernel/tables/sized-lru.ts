import { LRUCache } from 'lru-cache';

export interface SizedLruOptions<K, V> {
  /** Total of all sizes. A larger entry is not kept. */
  readonly maxSize: number;
  /** An integer above 0. @default 1 */
  readonly sizeOf?: (value: V, key: K) => number;
  /** Clock of lifetimes in milliseconds, which never returns 0. @default `performance.now` */
  readonly now?: () => number;
}

/** Keeps the most recently used entries, up to a total size. */
export interface SizedLru<K, V> {
  get(key: K): V | undefined;
  /** An entry without a lifetime left is not kept. @default no bound on its lifetime */
  set(key: K, value: V, ttlMs?: number): void;
  delete(key: K): void;
}

export function createSizedLru<K extends object | string, V extends object | string>({
  maxSize,
  sizeOf = () => 1,
  now = () => performance.now(),
}: SizedLruOptions<K, V>): SizedLru<K, V> {
  // A resolution above 0 starts timers.
  const held = new LRUCache<K, V>({ maxSize, sizeCalculation: sizeOf, ttlResolution: 0, perf: { now } });
  return {
    get: (key) => held.get(key),
    set(key, value, ttlMs) {
      if (ttlMs === undefined) held.set(key, value);
      else if (ttlMs > 0) held.set(key, value, { ttl: ttlMs });
    },
    delete(key) {
      held.delete(key);
    },
  };
}
