import { createRequire } from 'node:module';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { createRecentKeys } from '../../core/kernel/tables.ts';

export interface RateOptions {
  /** Quota of one key per window. */
  readonly quota: number;
  /** Length of a window, which starts with the key's first unit. */
  readonly windowMs: number;
  /** Maximum number of keys; the oldest is removed and starts again. */
  readonly maxKeys: number;
}

/** State of a key. */
export interface RateState {
  /** Whether the quota is exceeded. */
  readonly isOver: boolean;
  /** Remaining units of this window. */
  readonly remaining: number;
  /** Time until the end of the window. */
  readonly resetMs: number;
}

/** Counts units per key in fixed windows, for at most `maxKeys` keys. */
export interface Rate {
  readonly keys: number;
  /** Takes units. Rejected ones count too, so that a client must wait for the next window. */
  take(key: string, units: number): Promise<RateState>;
  /** Returns the state of a key that was used recently, without taking units. */
  look(key: string): Promise<RateState | undefined>;
  /**
   * Replaces the count of a key, and ends its window after this time, but never later than its open window, or a new
   * one, would end.
   */
  set(key: string, taken: number, resetMs: number): Promise<void>;
}

/** The only file that imports the package, which keeps a timer per key and removes none before its window ends. */
export function createRate({ quota, windowMs, maxKeys }: RateOptions): Rate {
  // Loaded on first use: it contains every kind of store and takes 20 ms.
  const { RateLimiterMemory, RateLimiterRes }: typeof import('rate-limiter-flexible') = createRequire(import.meta.url)(
    'rate-limiter-flexible',
  );
  const limiter = new RateLimiterMemory({ points: quota, duration: windowMs / 1000, keyPrefix: '' });
  const keys = createRecentKeys({ max: maxKeys, onForgotten: (key) => limiter.delete(key) });

  function stateOf({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): RateState {
    return { isOver: consumedPoints > quota, remaining: remainingPoints, resetMs: msBeforeNext };
  }

  return {
    get keys() {
      return keys.size;
    },
    async take(key, units) {
      keys.add(key);
      try {
        return stateOf(await limiter.consume(key, units));
      } catch (over) {
        if (over instanceof RateLimiterRes) return stateOf(over);
        throw over;
      }
    },
    async look(key) {
      const found = await limiter.get(key);
      return found === null || found.msBeforeNext <= 0 ? undefined : stateOf(found);
    },
    async set(key, taken, resetMs) {
      const open = await limiter.get(key);
      const longestMs = open !== null && open.msBeforeNext > 0 ? open.msBeforeNext : windowMs;
      keys.add(key);
      // 0 would keep it forever.
      await limiter.set(key, taken, Math.min(Math.max(resetMs, 1), longestMs) / 1000);
    },
  };
}
