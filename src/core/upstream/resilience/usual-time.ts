/** The usual time of calls, estimated from those that ended last. */
export interface UsualTime {
  add(ms: number): void;
  /** Milliseconds on average. 0 until a call has ended. */
  readonly meanMs: number;
  /** Milliseconds in which nearly all calls end. 0 until a call has ended. */
  readonly mostMs: number;
}

/** Share of the latest call, once there were enough of them for an average. */
const LATEST = 1 / 32;
/** Deviations above the mean in which nearly all calls end. */
const DEVIATIONS = 3;

/** Estimates as TCP does for its timeout (RFC 6298, section 2): a smoothed time and its smoothed mean deviation. */
export function createUsualTime(): UsualTime {
  let share = 1;
  let meanMs = 0;
  let deviationMs = 0;
  return {
    add(ms) {
      meanMs += share * (ms - meanMs);
      deviationMs += share * (Math.abs(ms - meanMs) - deviationMs);
      share = Math.max(share / (1 + share), LATEST);
    },
    get meanMs() {
      return meanMs;
    },
    get mostMs() {
      return meanMs + DEVIATIONS * deviationMs;
    },
  };
}
