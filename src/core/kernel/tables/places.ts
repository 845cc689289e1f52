/** Counts occupied slots per key. Only keys with slots are kept; `undefined` is no key and takes none. */
export interface Places {
  taken(key: string | undefined): number;
  take(key: string | undefined): void;
  release(key: string | undefined): void;
}

export function createPlaces(): Places {
  const places = new Map<string, number>();
  const taken = (key: string | undefined) => (key === undefined ? 0 : (places.get(key) ?? 0));
  return {
    taken,
    take(key) {
      if (key !== undefined) places.set(key, taken(key) + 1);
    },
    release(key) {
      if (key === undefined) return;
      if (taken(key) > 1) places.set(key, taken(key) - 1);
      else places.delete(key);
    },
  };
}
