import { GatewayError } from '../../core/kernel/errors.ts';

/** Refuses what would be work, while the event loop is too far behind to do it in time. */
export interface Overload {
  /** Throws `overloaded` as long as that is so. Reads what the watch has found. */
  check(): void;
  /** Begins to watch the event loop. Keeps no process alive. */
  watch(): void;
  stop(): void;
}

/** The most time between two looks at the event loop. */
const LOOK_MS = 100;

/** `undefined` where `maxDelayMs` is 0: nothing is refused, and nobody watches. */
export function createOverload(maxDelayMs: number): Overload | undefined {
  if (maxDelayMs === 0) return undefined;
  const shedding = createShedding(maxDelayMs);
  const lookMs = Math.min(Math.ceil(maxDelayMs / 5), LOOK_MS);
  let timer: NodeJS.Timeout | undefined;

  function watch(): void {
    const due = performance.now() + lookMs;
    timer = setTimeout(() => {
      shedding.add(performance.now() - due);
      watch();
    }, lookMs).unref();
  }

  return {
    check() {
      if (!shedding.isOn) return;
      throw new GatewayError('overloaded', {
        detail: 'More is being asked of this instance than it can do. Try again after Retry-After.',
        reason: `the event loop was ${Math.round(shedding.delayMs)} ms late`,
        bound: 'http.maxEventLoopDelayMs',
      });
    },
    watch,
    stop: () => clearTimeout(timer),
  };
}

/** So many looks in a row have to find a delay: a garbage collection, or a process that was stopped, is late once. */
const LOOKS = 3;

/** Whether to shed load, by how late the event loop was each time that somebody looked. */
export interface Shedding {
  readonly isOn: boolean;
  /** The last delay. */
  readonly delayMs: number;
  add(delayMs: number): void;
}

/**
 * Goes on where the last three delays were above `maxDelayMs`, and off with the first one below half of it: in between,
 * whoever is let in would have it go on again.
 */
export function createShedding(maxDelayMs: number): Shedding {
  let above = 0;
  let isOn = false;
  let last = 0;
  return {
    get isOn() {
      return isOn;
    },
    get delayMs() {
      return last;
    },
    add(delayMs) {
      last = delayMs;
      above = delayMs > maxDelayMs ? above + 1 : 0;
      if (above >= LOOKS) isOn = true;
      else if (delayMs < maxDelayMs / 2) isOn = false;
    },
  };
}
