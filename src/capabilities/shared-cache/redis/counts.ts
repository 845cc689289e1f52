import type { Connection } from './connection.ts';
import type { Naming } from './names.ts';
import { COUNT } from './scripts.ts';

/** What a key has taken in all, on all replicas, in the window that is open. */
export interface Counted {
  readonly total: number;
  /** Until that window ends. */
  readonly restMs: number;
}

/** What replicas count together. */
export interface Counts {
  /**
   * Adds so many to each of these names, whose windows are `windowMs` long and begin with the first, and gives what there is
   * of each, in the same order; `undefined` where it cannot be had, though it may have been counted. Never rejects.
   */
  add(units: ReadonlyMap<string, number>, windowMs: number): Promise<readonly (Counted | undefined)[]>;
}

/** Names of one step. */
const STEP = 128;

export function createCounts({
  connection,
  naming,
}: {
  readonly connection: Pick<Connection, 'ask'>;
  readonly naming: Naming;
}): Counts {
  async function step(names: readonly string[], units: readonly number[], windowMs: number) {
    const keys = names.map(naming.countOf);
    const answer = await connection.ask({ script: COUNT, keys, args: [windowMs, ...units] });
    const [counted] = answer.said === 'ok' ? answer.more : [];
    return names.map((_, index) => countedIn(Array.isArray(counted) ? counted[index] : undefined, windowMs));
  }

  return {
    async add(units, windowMs) {
      /** What stands together is counted together. */
      const buckets = Map.groupBy(units, ([name]) => naming.bucketOf(name));
      const found = new Map<string, Counted | undefined>();
      const steps = [...buckets.values()].flatMap((entries) => chunks(entries));
      await Promise.all(
        steps.map(async (entries) => {
          const names = entries.map(([name]) => name);
          const amounts = entries.map(([, amount]) => amount);
          const counted = await step(names, amounts, windowMs);
          for (const [index, name] of names.entries()) found.set(name, counted[index]);
        }),
      );
      return [...units.keys()].map((name) => found.get(name));
    },
  };
}

/** No window ends later than one that begins now. */
function countedIn(reply: unknown, windowMs: number): Counted | undefined {
  const [total, restMs] = Array.isArray(reply) ? reply : [];
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(restMs)) return undefined;
  return { total, restMs: Math.min(restMs, windowMs) };
}

function chunks<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / STEP) }, (_, index) =>
    all.slice(index * STEP, (index + 1) * STEP),
  );
}
