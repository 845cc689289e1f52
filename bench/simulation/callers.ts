import type { Schedule } from './schedule.ts';

export interface CallersOptions {
  readonly callers: number;
  /** Assistants that begin to work, a second, all callers together. */
  readonly sessionsPerSecond: number;
  /** Reads of one of them, on average, and the pauses between them. */
  readonly readsPerSession: number;
  readonly pauseMs: number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** Few callers work much, and most now and then: the n-th most active begins a session with a chance of 1/n^0.9. */
const SKEW = 0.9;

/** Has callers come: `read` is called for each of their reads, with a number that stands for the caller. */
export function haveCallersCome(schedule: Schedule, options: CallersOptions, read: (caller: number) => void): void {
  const { callers, sessionsPerSecond, readsPerSession, pauseMs, random } = options;
  const chances = new Float64Array(callers);
  let total = 0;
  for (let caller = 0; caller < callers; caller += 1) {
    total += (caller + 1) ** -SKEW;
    chances[caller] = total;
  }
  const exponential = (meanMs: number) => -meanMs * Math.log(1 - random());

  function anyCaller(): number {
    const wanted = random() * total;
    let [low, high] = [0, callers - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((chances[middle] ?? total) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function work(caller: number): void {
    const next = () => {
      read(caller);
      if (random() * readsPerSession >= 1) schedule.after(exponential(pauseMs), next);
    };
    next();
  }

  const come = () => {
    work(anyCaller());
    schedule.after(exponential(1000 / sessionsPerSecond), come);
  };
  schedule.after(0, come);
}
