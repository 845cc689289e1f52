/** Length and number of the slots: ten minutes. */
export const SLOT_MS = 10_000;
export const SLOTS = 60;
/** Slots of the last minute, of which the newest is not over. */
const MINUTE_SLOTS = 6;

/** Upper bounds of the buckets of durations: 0.1 ms, 0.2 ms … 26 s. Longer ones are in the last bucket. */
const BOUNDS = Array.from({ length: 19 }, (_, index) => 0.1 * 2 ** index);

interface Slot {
  /** Number of the slot since the epoch. */
  readonly number: number;
  requests: number;
  failures: number;
  readonly durations: Uint32Array;
}

/** Totals of one slot, or of all. */
export interface Period {
  readonly requests: number;
  readonly failures: number;
  /** p50 and p95, to a factor of two. 0 without requests. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** The last ten minutes of requests that take time and can fail. */
export interface History {
  add(ms: number, isFailure: boolean): void;
  total(): Period;
  lastMinute(): Period;
  /** The oldest first. */
  slots(): Period[];
}

/** `now`: milliseconds since the epoch. */
export function createHistory(now: () => number): History {
  const ring = Array.from({ length: SLOTS }, () => createSlot(-1));
  const current = () => Math.floor(now() / SLOT_MS);
  /** Returns the slot of this number, empty where nothing was added to it. */
  const slotOf = (number: number) => {
    const slot = ring[number % SLOTS];
    return slot?.number === number ? slot : createSlot(number);
  };
  const all = () => Array.from({ length: SLOTS }, (_, index) => slotOf(current() - SLOTS + 1 + index));

  return {
    add(ms, isFailure) {
      const slot = slotOf(current());
      ring[slot.number % SLOTS] = slot;
      slot.requests += 1;
      if (isFailure) slot.failures += 1;
      const found = BOUNDS.findIndex((bound) => ms <= bound);
      const index = found === -1 ? BOUNDS.length - 1 : found;
      slot.durations[index] = (slot.durations[index] ?? 0) + 1;
    },
    total: () => periodOf(all()),
    lastMinute: () => periodOf(all().slice(-MINUTE_SLOTS)),
    slots: () => all().map((slot) => periodOf([slot])),
  };
}

function createSlot(number: number): Slot {
  return { number, requests: 0, failures: 0, durations: new Uint32Array(BOUNDS.length) };
}

function periodOf(slots: readonly Slot[]): Period {
  const sum = (of: (slot: Slot) => number) => slots.reduce((total, slot) => total + of(slot), 0);
  const durations = BOUNDS.map((_, index) => sum((slot) => slot.durations[index] ?? 0));
  const requests = sum((slot) => slot.requests);
  return {
    requests,
    failures: sum((slot) => slot.failures),
    medianMs: boundOf(durations, requests * 0.5),
    p95Ms: boundOf(durations, requests * 0.95),
  };
}

/** Returns the upper bound of the bucket that has the duration of this rank. */
function boundOf(durations: readonly number[], rank: number): number {
  if (rank === 0) return 0;
  let below = 0;
  for (const [index, count] of durations.entries()) {
    below += count;
    if (below >= rank) return BOUNDS[index] ?? 0;
  }
  return 0;
}
