import { LRUCache } from 'lru-cache';

export interface RecentKeysOptions {
  /** Keys at most: the one that was added longest ago makes room. */
  readonly max: number;
  /** Told of each key that is not held any more. */
  readonly onForgotten: (key: string) => void;
}

/** The keys that were added last. */
export interface RecentKeys {
  readonly size: number;
  add(key: string): void;
}

export function createRecentKeys({ max, onForgotten }: RecentKeysOptions): RecentKeys {
  const keys = new LRUCache<string, true>({
    // Not by `max`, for which lru-cache takes memory at once, for keys that may never come.
    maxSize: max,
    sizeCalculation: () => 1,
    dispose: (_, key) => onForgotten(key),
  });
  return {
    get size() {
      return keys.size;
    },
    add(key) {
      // Half of what `set` costs, and the common case.
      if (keys.get(key) === undefined) keys.set(key, true);
    },
  };
}
