/** How long one slot is, and how many are kept: ten minutes. */
export const SLOT_MS = 10_000;
export const SLOTS = 60;

/** Bounds of the counts of durations, in milliseconds: 0.1, 0.2, 0.4 … 26 s. What took longer is in the last one. */
const BOUNDS = Array.from({ length: 19 }, (_, index) => 0.1 * 2 ** index);

interface Slot {
  /** Number of the slot since the epoch. */
  number: number;
  requests: number;
  failures: number;
  readonly durations: Uint32Array;
}

/** What happened in one slot, or in all of them. */
export interface Period {
  readonly requests: number;
  readonly failures: number;
  /** Half of the requests took no longer, 95 in 100 took no longer: to a factor of two, in milliseconds. 0 without requests. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** The last ten minutes of something that takes time and may fail. */
export interface History {
  add(ms: number, isFailure: boolean): void;
  /** All of it. */
  total(): Period;
  /** Slot by slot, the oldest first. */
  slots(): Period[];
}

/** `now`: milliseconds since the epoch. */
export function createHistory(now: () => number): History {
  const ring: Slot[] = Array.from({ length: SLOTS }, () => ({
    number: -1,
    requests: 0,
    failures: 0,
    durations: new Uint32Array(BOUNDS.length),
  }));

  const current = () => Math.floor(now() / SLOT_MS);
  const at = (number: number) => ring[number % SLOTS] as Slot;

  function inForce(): Slot[] {
    const last = current();
    const numbers = Array.from({ length: SLOTS }, (_, index) => last - SLOTS + 1 + index);
    return numbers.map((number) => {
      const slot = at(number);
      return slot.number === number
        ? slot
        : { number, requests: 0, failures: 0, durations: new Uint32Array(BOUNDS.length) };
    });
  }

  return {
    add(ms, isFailure) {
      const number = current();
      const slot = at(number);
      if (slot.number !== number) {
        slot.number = number;
        slot.requests = 0;
        slot.failures = 0;
        slot.durations.fill(0);
      }
      slot.requests += 1;
      if (isFailure) slot.failures += 1;
      const found = BOUNDS.findIndex((bound) => ms <= bound);
      const index = found === -1 ? BOUNDS.length - 1 : found;
      slot.durations[index] = (slot.durations[index] ?? 0) + 1;
    },
    total: () => periodOf(inForce()),
    slots: () => inForce().map((slot) => periodOf([slot])),
  };
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

/** The bound below which so many durations lie. */
function boundOf(durations: readonly number[], rank: number): number {
  if (rank === 0) return 0;
  let below = 0;
  for (const [index, count] of durations.entries()) {
    below += count;
    if (below >= rank) return BOUNDS[index] ?? 0;
  }
  return 0;
}
