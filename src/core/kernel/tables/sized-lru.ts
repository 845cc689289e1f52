import { LRUCache } from 'lru-cache';

export interface SizedLruOptions<K, V> {
  /** Total of all sizes. A larger entry is not kept. */
  readonly maxSize: number;
  /** An integer above 0. */
  readonly sizeOf: (value: V, key: K) => number;
}

/** Keeps the most recently used entries, up to a total size. */
export interface SizedLru<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
}

export function createSizedLru<K extends object | string, V extends object | string>(
  options: SizedLruOptions<K, V>,
): SizedLru<K, V> {
  const held = new LRUCache<K, V>({ maxSize: options.maxSize, sizeCalculation: options.sizeOf });
  return {
    get: (key) => held.get(key),
    set(key, value) {
      held.set(key, value);
    },
    delete(key) {
      held.delete(key);
    },
  };
}
