import { setImmediate as laterTurn } from 'node:timers/promises';

const waiting: (() => void)[] = [];
let isScheduled = false;

/**
 * Resolves in a later turn of the event loop, for long work that goes on step by step. Each turn has one step, whoever's:
 * however many do long work at a time, what else there is to do waits for no more than one step of one of them. With a
 * `setImmediate` of its own for each step, it would wait for a step of each.
 */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  schedule();
  return promise;
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return;
  isScheduled = true;
  setImmediate(run);
}

function run(): void {
  isScheduled = false;
  waiting.shift()?.();
  schedule();
}

/** Does some work now or in a later turn of the event loop, and tells how long it took, in milliseconds. */
export type InBudget = <T>(work: () => T, tookMs: (ms: number) => void) => Promise<T>;

/** Shares each turn of the event loop among many small pieces of work: they take `ms` of it, the last of them maybe longer. */
export function createTurnBudget(ms: number): InBudget {
  let usedMs = 0;
  return async (work, tookMs) => {
    while (usedMs >= ms) await laterTurn();
    if (usedMs === 0) {
      setImmediate(() => {
        usedMs = 0;
      });
    }
    const begun = performance.now();
    try {
      return work();
    } finally {
      const took = performance.now() - begun;
      usedMs += took;
      tookMs(took);
    }
  };
}
