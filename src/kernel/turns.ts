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
