/** Counts of mapped items. */
export interface MappingCounts {
  /** Items received. */
  readonly received: number;
  /** Items excluded by `where`. */
  readonly excluded: number;
  /** Invalid items that were dropped. */
  readonly dropped: number;
  /** Why the first dropped item is invalid. Names fields and places, never values. */
  readonly dropReason?: string | undefined;
  /** Mapped items with the id of an earlier one. */
  readonly repeatedIds: number;
  /** What the items expression missed, with figures; undefined if it found items or nothing exists. */
  readonly overlooked?: string | undefined;
  /** Number of remaining items that took a field's default, by field. Fields without any are absent. */
  readonly defaulted: ReadonlyMap<string, number>;
  /** Mapped fields that are empty in all remaining items; undefined if none are. */
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

/** Adds the counts of two parts of a list. */
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

/** Why nothing is left of a non-empty reply, with figures and the settings that cause it. */
export interface NothingLeft {
  readonly why: string;
  /** Keys below the resource's. */
  readonly keys: readonly ('items' | 'where' | 'fields')[];
}

/** Returns undefined if items are left, or the upstream sent none. */
export function nothingLeft(counts: MappingCounts): NothingLeft | undefined {
  const { received, excluded, dropped, dropReason, overlooked } = counts;
  if (received === 0) return overlooked === undefined ? undefined : { why: overlooked, keys: ['items'] };
  if (excluded + dropped < received) return undefined;
  if (dropped === 0) return { why: `where leaves out all ${received} items`, keys: ['where'] };
  const invalid = `are invalid, the first since ${dropReason}`;
  return excluded === 0
    ? { why: `all ${received} items ${invalid}`, keys: ['fields'] }
    : {
        why: `where leaves out ${excluded} of ${received} items, and the remaining ones ${invalid}`,
        keys: ['where', 'fields'],
      };
}

/**
 * A warning about a list: usually a mistake in an expression, such as `type == tab` instead of `type == 'tab'`.
 * `nothing_left` and `duplicate_ids` are warnings only where settings allow them.
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

/** Describes a finding. Names documented fields only, nothing from an upstream. */
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
