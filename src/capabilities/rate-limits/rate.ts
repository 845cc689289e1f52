import { createSizedLru } from '../../core/kernel/lru.ts';

export interface RateOptions {
  readonly quota: number;
  /** Length of a window, which starts with the key's first unit. */
  readonly windowMs: number;
  /** Maximum number of keys; the least recently used is removed and starts again. */
  readonly maxKeys: number;
  /** Monotonic clock in milliseconds. @default `performance.now` */
  readonly now?: () => number;
}

export interface RateState {
  readonly isOver: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

/** Counts units per key in fixed windows, for at most `maxKeys` keys. */
export interface Rate {
  /** Takes units. Rejected ones count too, so that a client must wait for the next window. */
  take(key: string, units: number): RateState;
  /** Returns the state of a key whose window is open, without taking units. */
  look(key: string): RateState | undefined;
  /** Replaces the count of a key, and ends its window after this time, but never later than it would have ended. */
  set(key: string, taken: number, resetMs: number): void;
}

interface Window {
  taken: number;
  readonly endsAt: number;
}

/** A table of windows, without timers: one whose end has passed is replaced when its key is used again. */
export function createRate({ quota, windowMs, maxKeys, now = () => performance.now() }: RateOptions): Rate {
  const windows = createSizedLru<string, Window>({ maxSize: maxKeys });

  function openWindow(key: string, at: number): Window | undefined {
    const window = windows.get(key);
    return window !== undefined && at < window.endsAt ? window : undefined;
  }

  function begin(key: string, window: Window): Window {
    windows.set(key, window);
    return window;
  }

  function stateOf({ taken, endsAt }: Window, at: number): RateState {
    // A sum of two times may be rounded up.
    return { isOver: taken > quota, remaining: Math.max(quota - taken, 0), resetMs: Math.min(endsAt - at, windowMs) };
  }

  return {
    take(key, units) {
      const at = now();
      const window = openWindow(key, at) ?? begin(key, { taken: 0, endsAt: at + windowMs });
      window.taken += units;
      return stateOf(window, at);
    },
    look(key) {
      const at = now();
      const window = openWindow(key, at);
      return window && stateOf(window, at);
    },
    set(key, taken, resetMs) {
      const at = now();
      const latest = openWindow(key, at)?.endsAt ?? at + windowMs;
      begin(key, { taken, endsAt: Math.min(at + resetMs, latest) });
    },
  };
}
