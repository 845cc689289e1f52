/** The right of one load to store what it brings. */
export interface Permit {
  /** Uses the right: whether it still stands. Takes it from every load under the same key that began earlier. */
  use(): boolean;
  /** Call it once the load has ended, however it did. */
  end(): void;
}

/** Which loads may still store what they bring. */
export interface Permits {
  grant(key: string): Permit;
  /** Takes the right from every load under this key that is under way. */
  revoke(key: string): void;
  /** Keys under which a load is under way. */
  readonly size: number;
}

/**
 * Remembers nothing but the loads under way, in the order in which they began. That does what a counter of evictions
 * for each key would do, and ends with the loads, where counters would have to be kept for ever.
 */
export function createPermits(): Permits {
  const underWay = new Map<string, Set<Permit>>();
  return {
    grant(key) {
      const permits = underWay.get(key) ?? new Set();
      underWay.set(key, permits);
      const permit: Permit = {
        use() {
          if (!permits.has(permit)) return false;
          for (const earlier of permits) {
            if (earlier === permit) break;
            permits.delete(earlier);
          }
          return true;
        },
        end() {
          permits.delete(permit);
          if (permits.size === 0 && underWay.get(key) === permits) underWay.delete(key);
        },
      };
      permits.add(permit);
      return permit;
    },
    revoke(key) {
      underWay.get(key)?.clear();
      underWay.delete(key);
    },
    get size() {
      return underWay.size;
    },
  };
}
