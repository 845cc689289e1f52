/** Length and number of the slots: ten minutes. */
export const SLOT_MS = 10_000;
export const SLOTS = 60;
/** Slots of the last minute, of which the newest is not over. */
const MINUTE_SLOTS = 6;
/** Durations are kept in buckets, four for each factor of two: up to 0.1 ms, 0.12 ms … 26 s. Longer ones are in the last bucket. */
const FIRST_MS = 0.1;
const PER_DOUBLING = 4;
const LAST_BUCKET = 18 * PER_DOUBLING;

/** Counts by their names; those of 0 are absent. */
export type Counts = { readonly [name: string]: number | undefined };

/** Counts what happened in the last ten minutes, by names of a closed list. `now`: milliseconds since the epoch. */
export function createCounts(now: () => number) {
  const ring: { readonly number: number; readonly counts: Record<string, number> }[] = [];
  const current = () => Math.floor(now() / SLOT_MS);

  /** Returns the last slots, the oldest first. */
  function slots(length = SLOTS): Counts[] {
    const first = current() - length + 1;
    return Array.from({ length }, (_, index) => {
      const slot = ring[(first + index) % SLOTS];
      return slot?.number === first + index ? slot.counts : {};
    });
  }

  return {
    add(name: string | number): void {
      const number = current();
      let slot = ring[number % SLOTS];
      if (slot?.number !== number) {
        slot = { number, counts: {} };
        ring[number % SLOTS] = slot;
      }
      slot.counts[name] = (slot.counts[name] ?? 0) + 1;
    },
    slots,
    total: () => addUp(slots()),
    lastMinute: () => addUp(slots(MINUTE_SLOTS)),
  };
}

function addUp(all: readonly Counts[]): Counts {
  const totals: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count = 0] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
  }
  return totals;
}

/** Totals of one slot, or of several. */
export interface Period {
  readonly requests: number;
  readonly failures: number;
  /** p50 and p95, to a fifth. 0 without requests. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** Keeps the last ten minutes of what takes time and can fail. */
export function createHistory(now: () => number) {
  const { add, slots, total, lastMinute } = createCounts(now);
  return {
    add(ms: number, isFailure = false): void {
      add(Math.min(Math.max(0, Math.ceil(PER_DOUBLING * Math.log2(ms / FIRST_MS))), LAST_BUCKET));
      if (isFailure) add('failures');
    },
    total: () => periodOf(total()),
    lastMinute: () => periodOf(lastMinute()),
    /** The oldest first. */
    slots: () => slots().map(periodOf),
  };
}

function periodOf({ failures = 0, ...durations }: Counts): Period {
  const requests = sumOf(durations);
  return {
    requests,
    failures,
    medianMs: boundOf(durations, requests * 0.5),
    p95Ms: boundOf(durations, requests * 0.95),
  };
}

export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0);
}

/** Returns the upper bound of the bucket that has the duration of this rank. The buckets are in order: their names are numbers. */
function boundOf(durations: Counts, rank: number): number {
  let below = 0;
  for (const [bucket, count = 0] of Object.entries(durations)) {
    below += count;
    if (below >= rank) return Number((FIRST_MS * 2 ** (Number(bucket) / PER_DOUBLING)).toPrecision(3));
  }
  return 0;
}
