export interface RecentKeysOptions {
  /** How long a key is remembered. */
  readonly forMs: number;
  /** Keys kept at most: the one that was added first makes room. */
  readonly limit: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Keys that were added a short while ago. Bounded, whatever the number of keys. */
export interface RecentKeys {
  add(key: string): void;
  has(key: string): boolean;
  delete(key: string): void;
}

export function createRecentKeys({ forMs, limit, now }: RecentKeysOptions): RecentKeys {
  const addedAt = new Map<string, number>();
  return {
    add(key) {
      // Deleted first, so that the oldest always stands first.
      addedAt.delete(key);
      addedAt.set(key, now());
      for (const oldest of addedAt.keys()) {
        if (addedAt.size <= limit) break;
        addedAt.delete(oldest);
      }
    },
    has(key) {
      const at = addedAt.get(key);
      return at !== undefined && now() - at < forMs;
    },
    delete(key) {
      addedAt.delete(key);
    },
  };
}
