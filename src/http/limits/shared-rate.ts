import type { Rate } from './rate.ts';

/** Where several replicas count together. */
export interface SharedCounts {
  /**
   * Adds so many to each of these names, whose windows are `windowMs` long and begin with the first, and gives what there is
   * of each, in the same order; `undefined` where that cannot be had. Never rejects.
   */
  add(
    units: ReadonlyMap<string, number>,
    windowMs: number,
  ): Promise<readonly ({ readonly total: number; readonly restMs: number } | undefined)[]>;
}

export interface SharedRateOptions {
  readonly counts: SharedCounts;
  /** What a key is called there: the same on all replicas. */
  readonly nameOf: (key: string) => string;
  readonly windowMs: number;
  /** Keys at most of which something is to be told. */
  readonly maxKeys: number;
}

/** No key is told of more often. */
const PAUSE_MS = 100;
/** Keys that are told of at once. */
const STEP = 1024;

/**
 * Counts as `rate` does, and tells others what was taken a moment later, for all keys together: nobody waits for them. What they
 * say was taken in all, and when that window ends, holds from then on, unless more was taken here alone: a store that was
 * emptied, or lies, lets nobody through. So all together may take more than the quota by what
 * they take within that moment. What cannot be told is counted here alone.
 */
export function withSharedCounts(rate: Rate, { counts, nameOf, windowMs, maxKeys }: SharedRateOptions): Rate {
  /** What was taken and not told yet. */
  const untold = new Map<string, number>();
  let isTelling = false;

  async function tell(): Promise<void> {
    const step = new Map<string, number>();
    const keys: string[] = [];
    for (const [key, units] of untold) {
      step.set(nameOf(key), units);
      keys.push(key);
      untold.delete(key);
      if (keys.length === STEP) break;
    }
    const found = await counts.add(step, windowMs);
    for (const [index, key] of keys.entries()) {
      const counted = found[index];
      if (counted !== undefined) await rate.set(key, counted.total + (untold.get(key) ?? 0), counted.restMs);
    }
  }

  function tellSoon(): void {
    if (isTelling) return;
    isTelling = true;
    setImmediate(async () => {
      await tell();
      setTimeout(() => {
        isTelling = false;
        if (untold.size > 0) tellSoon();
      }, PAUSE_MS);
    });
  }

  return {
    get keys() {
      return rate.keys;
    },
    take(key, units) {
      const standing = rate.take(key, units);
      const before = untold.get(key);
      if (before !== undefined || untold.size < maxKeys) {
        untold.set(key, (before ?? 0) + units);
        tellSoon();
      }
      return standing;
    },
    look: rate.look,
    set: rate.set,
  };
}
