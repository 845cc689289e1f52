import { LRUCache } from 'lru-cache';

export interface RecentKeysOptions {
  /** Maximum number of keys; the oldest is removed first. */
  readonly max: number;
  /** Called with each removed key. */
  readonly onForgotten: (key: string) => void;
}

/** The keys added last. */
export interface RecentKeys {
  readonly size: number;
  add(key: string): void;
  /** Removes a key, with a call of `onForgotten`. */
  delete(key: string): void;
}

export function createRecentKeys({ max, onForgotten }: RecentKeysOptions): RecentKeys {
  const keys = new LRUCache<string, true>({
    // Not `max`: lru-cache allocates for it immediately.
    maxSize: max,
    sizeCalculation: () => 1,
    dispose: (_, key) => onForgotten(key),
  });
  return {
    get size() {
      return keys.size;
    },
    add(key) {
      // Half the cost of `set`, and the common case.
      if (keys.get(key) === undefined) keys.set(key, true);
    },
    delete(key) {
      keys.delete(key);
    },
  };
}
