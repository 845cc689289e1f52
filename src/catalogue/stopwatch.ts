/** Tells what of a time was spent on work of our own. */
export interface Stopwatch {
  /** Does some work, and takes its time. */
  own<T>(work: () => T): T;
  /** Milliseconds since the start that were not spent on work of our own. */
  restMs(): number;
}

export function startStopwatch(): Stopwatch {
  const begun = performance.now();
  let ownMs = 0;
  return {
    own(work) {
      const start = performance.now();
      const result = work();
      ownMs += performance.now() - start;
      return result;
    },
    restMs: () => performance.now() - begun - ownMs,
  };
}
