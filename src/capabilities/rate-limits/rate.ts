import { createRequire } from 'node:module';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { createRecentKeys } from '../../core/kernel/tables/recent-keys.ts';

export interface RateOptions {
  /** What one key may take in a window. */
  readonly quota: number;
  /** How long a window is; it begins with the first that a key takes. */
  readonly windowMs: number;
  /** Keys that are counted: the one that took longest ago is forgotten, and begins anew. */
  readonly maxKeys: number;
}

/** What there is for a key. */
export interface Standing {
  /** Whether more was taken than there is. */
  readonly isOver: boolean;
  /** What may still be taken in this window. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

/** Counts what keys take in fixed windows of time. Bounded by `maxKeys`, however many come. */
export interface Rate {
  readonly keys: number;
  /** Takes so many. They count even where they are refused: whoever does not wait is not let in again by and by. */
  take(key: string, units: number): Promise<Standing>;
  /** What there is for a key, where something was taken lately. Takes nothing. */
  look(key: string): Promise<Standing | undefined>;
  /**
   * Replaces what was taken for a key, and ends its window in so many milliseconds: never later than the window that is open, or
   * that one which begins now, would end.
   */
  set(key: string, taken: number, resetMs: number): Promise<void>;
}

/** The one home of the package, which keeps a timer for each key and forgets none before its window ends. */
export function createRate({ quota, windowMs, maxKeys }: RateOptions): Rate {
  // Where no rate is limited, it is not loaded: it comes with every kind of store, and takes 20 ms.
  const { RateLimiterMemory, RateLimiterRes }: typeof import('rate-limiter-flexible') = createRequire(import.meta.url)(
    'rate-limiter-flexible',
  );
  const limiter = new RateLimiterMemory({ points: quota, duration: windowMs / 1000, keyPrefix: '' });
  const keys = createRecentKeys({ max: maxKeys, onForgotten: (key) => limiter.delete(key) });

  function standing({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): Standing {
    return { isOver: consumedPoints > quota, remaining: remainingPoints, resetMs: msBeforeNext };
  }

  return {
    get keys() {
      return keys.size;
    },
    async take(key, units) {
      keys.add(key);
      try {
        return standing(await limiter.consume(key, units));
      } catch (over) {
        if (over instanceof RateLimiterRes) return standing(over);
        throw over;
      }
    },
    async look(key) {
      const found = await limiter.get(key);
      return found === null || found.msBeforeNext <= 0 ? undefined : standing(found);
    },
    async set(key, taken, resetMs) {
      const open = await limiter.get(key);
      const longestMs = open !== null && open.msBeforeNext > 0 ? open.msBeforeNext : windowMs;
      keys.add(key);
      // 0 would keep it for ever.
      await limiter.set(key, taken, Math.min(Math.max(resetMs, 1), longestMs) / 1000);
    },
  };
}
