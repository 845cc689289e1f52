import type { SharedCounts } from '../../core/sharing.ts';
import { createRate, type Rate, type RateOptions, type RateState } from './rate.ts';

interface SharedRateOptions extends RateOptions {
  readonly counts: Pick<SharedCounts, 'add'>;
  readonly nameOf: (key: string) => string;
}

const PAUSE_MS = 100;
const STEP = 1024;

/**
 * Counts in this process, and adds the units to the shared counts a moment later, for all keys together, so that no
 * request waits. A key is rejected if either count exceeds its quota, so an emptied or lying store admits no more than
 * one process alone would. All replicas together can exceed the quota by that moment's units. Units that cannot be
 * added are counted locally only.
 *
 * The end of a shared window can move closer, and never away while it is open: a store can reject a key for one window.
 */
export function createSharedRate({ counts, nameOf, ...options }: SharedRateOptions): Rate {
  const { windowMs, maxKeys } = options;
  /** Units taken here, independent of the store. */
  const own = createRate(options);
  /** Units of all replicas according to the store, plus those taken here since. */
  const together = createRate(options);
  const unreported = new Map<string, number>();
  let isReporting = false;

  async function report(): Promise<void> {
    const step = [...unreported.entries().take(STEP)];
    for (const [key] of step) unreported.delete(key);
    const found = await counts.add(new Map(step.map(([key, units]) => [nameOf(key), units])), windowMs);
    for (const [index, [key]] of step.entries()) {
      const counted = found[index];
      if (counted !== undefined) together.set(key, counted.total + (unreported.get(key) ?? 0), counted.restMs);
    }
  }

  function reportSoon(): void {
    if (isReporting) return;
    isReporting = true;
    setImmediate(async () => {
      await report();
      setTimeout(() => {
        isReporting = false;
        if (unreported.size > 0) reportSoon();
      }, PAUSE_MS);
    });
  }

  return {
    take(key, units) {
      const taken = own.take(key, units);
      const before = unreported.get(key);
      if (before !== undefined || unreported.size < maxKeys) {
        unreported.set(key, (before ?? 0) + units);
        reportSoon();
      }
      const shared = together.look(key) && together.take(key, units);
      return narrower(taken, shared);
    },
    look(key) {
      const [here, shared] = [own.look(key), together.look(key)];
      return here === undefined ? shared : narrower(here, shared);
    },
    set: together.set,
  };
}

function narrower(one: RateState, other: RateState | undefined): RateState {
  if (other === undefined) return one;
  if (one.isOver !== other.isOver) return one.isOver ? one : other;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}
