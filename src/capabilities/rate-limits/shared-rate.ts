import type { SharedCounts } from '../../core/kernel/shared-counts.ts';
import { createRate, type Rate, type RateOptions, type Standing } from './rate.ts';

export interface SharedRateOptions extends RateOptions {
  readonly counts: Pick<SharedCounts, 'add'>;
  /** What a key is called there: the same on all replicas. */
  readonly nameOf: (key: string) => string;
}

/** No key is told of more often. */
const PAUSE_MS = 100;
/** Keys that are told of at once. */
const STEP = 1024;

/**
 * Counts in this process, and adds what was taken to the shared counts a moment later, for all keys together: no request waits for
 * that. A key is refused where it is over by either count, so that a store that was emptied, or lies, lets through no more than
 * one process would alone. All together may take more than the quota by what they take within that moment. What cannot
 * be added is counted here alone.
 *
 * The end of a shared window may come nearer, but never moves away while it is open: a store can refuse a key for one window, and
 * then not before the key has taken again.
 */
export function createSharedRate({ counts, nameOf, ...options }: SharedRateOptions): Rate {
  const { windowMs, maxKeys } = options;
  /** What was taken here. The store has no say in it. */
  const own = createRate(options);
  /** What all replicas have taken, as the store has it, and what was taken here since. */
  const together = createRate(options);
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
      if (counted !== undefined) await together.set(key, counted.total + (untold.get(key) ?? 0), counted.restMs);
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
      return own.keys;
    },
    async take(key, units) {
      const taken = own.take(key, units);
      const before = untold.get(key);
      if (before !== undefined || untold.size < maxKeys) {
        untold.set(key, (before ?? 0) + units);
        tellSoon();
      }
      const shared = (await together.look(key)) && together.take(key, units);
      return narrower(await taken, await shared);
    },
    async look(key) {
      const [here, shared] = await Promise.all([own.look(key), together.look(key)]);
      return here === undefined ? shared : narrower(here, shared);
    },
    set: together.set,
  };
}

/** The one that lets less through, or for longer. */
function narrower(one: Standing, other: Standing | undefined): Standing {
  if (other === undefined) return one;
  if (one.isOver !== other.isOver) return one.isOver ? one : other;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}
