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
type Counts = Readonly<Partial<Record<string, number>>>;

/** Counts what happened in the last ten minutes, by names of a closed list. `now`: milliseconds since the epoch. */
export function createCounts(now: () => number) {
  const slots = new Map<number, Record<string, number>>();
  const current = () => Math.floor(now() / SLOT_MS);

  function addSlot(number: number): Record<string, number> {
    const counts = {};
    slots.set(number, counts);
    for (const old of slots.keys()) if (old <= number - SLOTS) slots.delete(old);
    return counts;
  }

  function totals(length: number): Counts {
    const sums: Record<string, number> = {};
    for (const [number, counts] of slots) {
      if (number <= current() - length) continue;
      for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    }
    return sums;
  }

  return {
    add(name: string | number): void {
      const number = current();
      const counts = slots.get(number) ?? addSlot(number);
      counts[name] = (counts[name] ?? 0) + 1;
    },
    total: () => totals(SLOTS),
    lastMinute: () => totals(MINUTE_SLOTS),
  };
}

/** Keeps the last ten minutes of what takes time and can fail. */
export function createHistory(now: () => number) {
  const { add, total, lastMinute } = createCounts(now);
  return {
    add(ms: number, isFailure = false): void {
      add(Math.min(Math.max(0, Math.ceil(PER_DOUBLING * Math.log2(ms / FIRST_MS))), LAST_BUCKET));
      if (isFailure) add('failures');
    },
    total: () => periodOf(total()),
    lastMinute: () => periodOf(lastMinute()),
  };
}

/** p95 is accurate to 20 %. 0 without requests. */
function periodOf({ failures = 0, ...durations }: Counts) {
  const requests = sumOf(durations);
  return { requests, failures, p95Ms: boundOf(durations, requests * 0.95) };
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
