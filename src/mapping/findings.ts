/** What became of items, in numbers. */
export interface MappingCounts {
  /** Items that the upstream sent. */
  readonly received: number;
  /** Those of them that `where` left out. */
  readonly excluded: number;
  /** Invalid ones that were left out. */
  readonly dropped: number;
  /** How many of those that are left took the default of a field, by its name. Fields whose default none took are not in it. */
  readonly defaulted: ReadonlyMap<string, number>;
  /** Fields with an expression of their own that are empty in all of those that are left; undefined where none are. */
  readonly empty: readonly string[] | undefined;
}

export const NO_COUNTS: MappingCounts = {
  received: 0,
  excluded: 0,
  dropped: 0,
  defaulted: new Map(),
  empty: undefined,
};

/** The counts of two parts of a list together. */
export function addCounts(a: MappingCounts, b: MappingCounts): MappingCounts {
  return {
    received: a.received + b.received,
    excluded: a.excluded + b.excluded,
    dropped: a.dropped + b.dropped,
    defaulted: addTimes(a.defaulted, b.defaulted),
    empty: a.empty === undefined || b.empty === undefined ? (a.empty ?? b.empty) : inBoth(a.empty, b.empty),
  };
}

function addTimes(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (a.size === 0) return b;
  const sum = new Map(a);
  for (const [field, times] of b) sum.set(field, (sum.get(field) ?? 0) + times);
  return sum;
}

function inBoth(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.length === 0 ? a : a.filter((field) => b.includes(field));
}

/**
 * What is to be doubted of a list that could be read: mostly it is a mistake in an expression, such as `type == tab` where
 * `type == 'tab'` was meant, but it may be the truth.
 */
export type MappingFinding =
  | { readonly finding: 'where_drops_all' }
  | { readonly finding: 'field_empty'; readonly field: string };

export function findingsOf({ received, excluded, empty = [] }: MappingCounts): MappingFinding[] {
  if (received > 0 && excluded === received) return [{ finding: 'where_drops_all' }];
  return empty.map((field) => ({ finding: 'field_empty', field }));
}

/** A finding in words. It names documented fields alone: nothing in it comes from an upstream. */
export function describeFinding(found: MappingFinding): string {
  return found.finding === 'where_drops_all'
    ? 'where leaves out every item'
    : `the field ${found.field} is empty in every item`;
}
