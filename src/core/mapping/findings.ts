/** What became of items, in numbers. */
export interface MappingCounts {
  /** Items that the upstream sent. */
  readonly received: number;
  /** Those of them that `where` left out. */
  readonly excluded: number;
  /** Invalid ones that were left out. */
  readonly dropped: number;
  /** Why the first of the dropped ones is invalid. Names fields and places, never a value. */
  readonly dropReason?: string | undefined;
  /** Mapped items whose documented id an earlier one has. */
  readonly repeatedIds: number;
  /** What the items expression passed over, with figures; undefined where it found items, or where nothing is there. */
  readonly overlooked?: string | undefined;
  /** How many of those that are left took the default of a field, by its name. Fields whose default none took are not in it. */
  readonly defaulted: ReadonlyMap<string, number>;
  /** Fields with an expression of their own that are empty in all of those that are left; undefined where none are. */
  readonly empty: readonly string[] | undefined;
}

export const NO_COUNTS: MappingCounts = {
  received: 0,
  excluded: 0,
  dropped: 0,
  repeatedIds: 0,
  defaulted: new Map(),
  empty: undefined,
};

/** The counts of two parts of a list together. */
export function addCounts(a: MappingCounts, b: MappingCounts): MappingCounts {
  return {
    received: a.received + b.received,
    excluded: a.excluded + b.excluded,
    dropped: a.dropped + b.dropped,
    dropReason: a.dropReason ?? b.dropReason,
    repeatedIds: a.repeatedIds + b.repeatedIds,
    overlooked: a.overlooked ?? b.overlooked,
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

/** Why nothing is left of a reply that was not empty, with figures, and the settings that cause it. */
export interface NothingLeft {
  readonly why: string;
  /** Below those of the resource. */
  readonly keys: readonly ('items' | 'where' | 'fields')[];
}

/** Undefined where items are left, or where the upstream sent none. */
export function nothingLeft(counts: MappingCounts): NothingLeft | undefined {
  const { received, excluded, dropped, dropReason, overlooked } = counts;
  if (received === 0) return overlooked === undefined ? undefined : { why: overlooked, keys: ['items'] };
  if (excluded + dropped < received) return undefined;
  if (dropped === 0) return { why: `where leaves out all ${received} items`, keys: ['where'] };
  const invalid = `are invalid, the first since ${dropReason}`;
  return excluded === 0
    ? { why: `all ${received} items ${invalid}`, keys: ['fields'] }
    : {
        why: `where leaves out ${excluded} of ${received} items, and the others ${invalid}`,
        keys: ['where', 'fields'],
      };
}

/**
 * A warning about a list that was read: mostly a mistake in an expression, such as `type == tab` where `type == 'tab'` was
 * meant. `nothing_left` and `duplicate_ids` are warnings only where settings allow them.
 */
export type MappingFinding =
  | { readonly finding: 'nothing_left' | 'duplicate_ids' }
  | { readonly finding: 'field_empty'; readonly field: string };

export function findingsOf(counts: MappingCounts): MappingFinding[] {
  if (nothingLeft(counts) !== undefined) return [{ finding: 'nothing_left' }];
  const { repeatedIds, empty = [] } = counts;
  return [
    ...(repeatedIds > 0 ? [{ finding: 'duplicate_ids' as const }] : []),
    ...empty.map((field) => ({ finding: 'field_empty' as const, field })),
  ];
}

/** A finding in words. It names documented fields alone: nothing in it comes from an upstream. */
export function describeFinding(found: MappingFinding): string {
  switch (found.finding) {
    case 'nothing_left':
      return 'nothing is left of a reply that was not empty';
    case 'duplicate_ids':
      return 'an id occurs more than once';
    case 'field_empty':
      return `the field ${found.field} is empty in every item`;
  }
}
