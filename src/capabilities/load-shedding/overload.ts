import { GatewayError } from '../../core/kernel/errors.ts';

/** Rejects work while the event loop is delayed. */
export interface Overload {
  /** Throws `overloaded` while shedding. */
  check(): void;
  /** Starts watching the event loop, without keeping the process alive. */
  watch(): void;
  stop(): void;
}

/** Maximum interval between two samples of the delay. */
const LOOK_MS = 100;

/** `undefined` if `maxDelayMs` is 0: nothing is rejected. */
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

/** Number of consecutive delays that start shedding: a garbage collection or a stopped process causes one. */
const LOOKS = 3;

/** Returns whether to shed load, from successive delays of the event loop. */
export interface Shedding {
  readonly isOn: boolean;
  /** The last delay. */
  readonly delayMs: number;
  add(delayMs: number): void;
}

/**
 * Starts when the last three delays exceed `maxDelayMs`, and ends with the first below half of it; with one threshold,
 * admitted requests would start it again.
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
