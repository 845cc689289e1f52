/** How long reads wait for loads of other replicas. */
export interface Patience {
  /** For the read that asks now, in milliseconds. */
  take(): number;
  /** What became of such a wait: there was something to take, or to load; or it was over, and there was nothing. */
  ended(how: 'well' | 'in vain'): void;
}

export interface PatienceOptions {
  readonly waitMs: number;
  /** How long nobody waits but one who tries again. */
  readonly pauseMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

/** Waits in vain, one after the other, after which nobody waits. */
const IN_VAIN = 8;

/**
 * A platform that is slower than anybody waits, and a store that says of each list that another replica is loading it, would cost
 * every read that wait, and bring it nothing. So after some of these, one read tries it now and then, and the others load at once.
 */
export function createPatience({ waitMs, pauseMs, clock }: PatienceOptions): Patience {
  let inVain = 0;
  let nextTry = 0;
  return {
    take() {
      if (inVain < IN_VAIN) return waitMs;
      if (clock() < nextTry) return 0;
      nextTry = clock() + pauseMs;
      return waitMs;
    },
    ended(how) {
      inVain = how === 'well' ? 0 : inVain + 1;
      if (inVain === IN_VAIN) nextTry = clock() + pauseMs;
    },
  };
}
