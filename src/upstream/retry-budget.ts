export interface RetryBudgetOptions {
  /** Retries for a hundred first attempts. */
  readonly percent: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/**
 * How often one upstream may be asked again. Within any 10 s up to a retry, retries are never more than `percent` of
 * the first attempts, and 3 beyond: an upstream that fails is not stormed, and one that is seldom asked still gets
 * its second chance.
 */
export interface RetryBudget {
  /** Tells of a first attempt. */
  attempt(): void;
  /** Takes one retry out of the budget; `false` where there is none left. */
  take(): boolean;
}

const ALLOWANCE = 3;
const WINDOW_SECONDS = 10;

interface Second {
  readonly second: number;
  attempts: number;
  retries: number;
}

export function createRetryBudget({ percent, now }: RetryBudgetOptions): RetryBudget {
  /** Those of the window, oldest first. */
  const seconds: Second[] = [];

  function current(): Second {
    const second = Math.floor(now() / 1000);
    while ((seconds[0]?.second ?? second) < second - WINDOW_SECONDS) seconds.shift();
    const last = seconds.at(-1);
    if (last?.second === second) return last;
    const begun = { second, attempts: 0, retries: 0 };
    seconds.push(begun);
    return begun;
  }

  return {
    attempt() {
      current().attempts += 1;
    },
    take() {
      const latest = current();
      // The oldest second is in the window in part: its retries count, its attempts do not.
      const whole = seconds.filter(({ second }) => second > latest.second - WINDOW_SECONDS);
      const allowed = ALLOWANCE + (sum(whole, 'attempts') * percent) / 100;
      if (sum(seconds, 'retries') + 1 > allowed) return false;
      latest.retries += 1;
      return true;
    },
  };
}

function sum(seconds: readonly Second[], key: 'attempts' | 'retries'): number {
  return seconds.reduce((total, second) => total + second[key], 0);
}
