import { GatewayError } from '../../core/kernel/errors.ts';
import { watchEventLoop } from '../../core/kernel/event-loop.ts';
import { defineCapability } from '../capability.ts';

/** Rejects reads with `overloaded` while the event loop is late (docs/decisions/0060). */
export const loadShedding = defineCapability({
  open: (_, { config: { http } }) => (http.maxEventLoopDelayMs === 0 ? undefined : shedLoad(http.maxEventLoopDelayMs)),
});

/** Maximum interval between two samples of the delay. */
const LOOK_MS = 100;

/** Watches the event loop from `start` on, without keeping the process alive. */
export function shedLoad(maxDelayMs: number) {
  const shedding = createShedding(maxDelayMs);
  const lookMs = Math.min(Math.ceil(maxDelayMs / 5), LOOK_MS);
  let stopWatching = () => {};

  return {
    preAuthenticate() {
      if (!shedding.isOn) return;
      throw new GatewayError('overloaded', {
        detail: 'This instance is overloaded. Try again after Retry-After.',
        reason: `the event loop was ${Math.round(shedding.delayMs)} ms late`,
        bound: 'http.maxEventLoopDelayMs',
      });
    },
    async start() {
      stopWatching = watchEventLoop(lookMs, shedding.add);
    },
    stop: async () => stopWatching(),
  };
}

/** Number of consecutive delays that start shedding: a garbage collection or a stopped process causes one. */
const LOOKS = 3;

/** Starts when the last three delays exceed `maxDelayMs`, ends below half of it: admitted requests would start it again. */
export function createShedding(maxDelayMs: number) {
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
    add(delayMs: number): void {
      last = delayMs;
      above = delayMs > maxDelayMs ? above + 1 : 0;
      if (above >= LOOKS) isOn = true;
      else if (delayMs < maxDelayMs / 2) isOn = false;
    },
  };
}
