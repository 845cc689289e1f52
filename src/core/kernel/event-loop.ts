import { setImmediate as laterTurn } from 'node:timers/promises';

/** Turns in a row without long work, while connections arrive. */
const MAX_DEFERRALS = 64;
let isAccepting = false;
let deferrals = 0;

/**
 * To be called with each new connection. Node accepts one in each turn of the event loop, so that long work in these turns would
 * make a burst of connections wait for seconds.
 */
export function connectionAccepted(): void {
  isAccepting = true;
  setImmediate(() => {
    isAccepting = false;
  });
}

function defersWork(): boolean {
  deferrals = isAccepting && deferrals < MAX_DEFERRALS ? deferrals + 1 : 0;
  return deferrals > 0;
}

/** Returns what plans `runTurn` for the next turn of the event loop, unless it is planned already. It is repeated while it returns true. */
function inTurns(runTurn: () => boolean): () => void {
  let isPlanned = false;
  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      if (runTurn()) plan();
    });
  }
  return plan;
}

const waiting: (() => void)[] = [];
const planStep = inTurns(() => {
  if (!defersWork()) waiting.shift()?.();
  return waiting.length > 0;
});

/** Each turn of the event loop runs one step of all long work, so that other events wait for at most one. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  planStep();
  return promise;
}

/**
 * Runs pieces of work in order of arrival, up to `ms` of them in one turn of the event loop; the last one may exceed it. Work that
 * comes back for its next piece goes behind all others.
 */
export function createTurnBudget(ms: number) {
  const pieces: (() => void)[] = [];
  let usedMs = 0;
  const planPieces = inTurns(() => {
    usedMs = 0;
    if (!defersWork()) while (usedMs < ms && pieces.length > 0) pieces.shift()?.();
    return pieces.length > 0 || usedMs > 0;
  });

  return <T>(work: () => T, tookMs: (ms: number) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      const run = () => {
        const startedAt = performance.now();
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
        const took = performance.now() - startedAt;
        usedMs += took;
        tookMs(took);
      };
      planPieces();
      if (pieces.length === 0 && usedMs < ms && !isAccepting) run();
      else pieces.push(run);
    });
}

export interface TurnBytes {
  /** Returns at once while the bytes of this turn fit; otherwise resolves in a later turn in which they do. */
  take(bytes: number): Promise<void> | undefined;
}

/** Bounds the bytes that many small pieces of work process in one turn. One piece always fits. */
export function createTurnBytes(maxBytes: number): TurnBytes {
  let used = 0;
  let next: Promise<void> | undefined;

  function take(bytes: number): Promise<void> | undefined {
    if (used > 0 && used + bytes > maxBytes) return next?.then(() => take(bytes));
    used += bytes;
    next ??= laterTurn().then(() => {
      used = 0;
      next = undefined;
    });
    return undefined;
  }

  return { take };
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
