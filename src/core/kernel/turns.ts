import { setImmediate as laterTurn } from 'node:timers/promises';

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Each turn of the event loop runs one step of all long work, so that other events wait for at most one. */
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

/** Shares turns of the event loop: up to `ms` per turn, exceeded by the last piece at most. */
export function createTurnBudget(ms: number) {
  let usedMs = 0;
  return async <T>(work: () => T, tookMs: (ms: number) => void): Promise<T> => {
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

/** Measures delays of the event loop until the returned function is called. */
export function watchEventLoop(everyMs: number, onDelay: (delayMs: number) => void): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    onDelay(Math.max(0, now - last - everyMs));
    last = now;
  }, everyMs).unref();
  return () => clearInterval(timer);
}
