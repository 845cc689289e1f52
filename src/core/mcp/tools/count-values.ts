import { explained } from '../../kernel/errors.ts';
import type { Item } from '../../resources/resource.ts';

/** Maximum number of values per field, and their length in UTF-16 code units. All others are counted together. */
const MAX_VALUES = 50;
const MAX_LENGTH = 256;

/** Maximum size of distinct values while counting, in UTF-16 code units: some 10,000 short ones. */
const MAX_DISTINCT = 1_048_576;
/** Charge per distinct value, for the table. */
const ENTRY = 64;

/** Size of a field's counts without its values: its name, and the count of others. */
const FRAME_BYTES = 96;

/** Counts the values of fields, each field by itself. */
export interface Counter {
  /** Throws `result_too_large` if there are too many different values to count. */
  add(item: Item): void;
  /**
   * Returns the counts by field, of at most `maxBytes` as JSON: values by descending count, then by code unit. The last
   * entry may be `others`: the number of further values, with the count of their items.
   */
  counts(maxBytes: number): Readonly<Record<string, readonly ValueCount[]>>;
}

export type ValueCount = { readonly count: number } & ({ readonly value: string } | { readonly others: number });

export function createCounter(fields: readonly string[]): Counter {
  const counted = fields.map((field) => [field, new Map<string, number>()] as const);
  let distinct = 0;
  return {
    add(item) {
      for (const [field, counts] of counted) {
        const value = item[field] ?? '';
        const count = counts.get(value) ?? 0;
        if (count === 0) distinct += ENTRY + value.length;
        if (distinct > MAX_DISTINCT) throw tooMany(field);
        counts.set(value, count + 1);
      }
    },
    counts(maxBytes) {
      const share = Math.floor(maxBytes / fields.length);
      return Object.fromEntries(counted.map(([field, counts]) => [field, mostFrequent(counts, share)]));
    },
  };
}

function mostFrequent(counts: ReadonlyMap<string, number>, maxBytes: number): readonly ValueCount[] {
  const sorted = [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1));
  const shown: ValueCount[] = [];
  let left = maxBytes - FRAME_BYTES;
  let others = 0;
  let items = 0;
  for (const [value, count] of sorted) {
    const isShown = shown.length < MAX_VALUES && value.length <= MAX_LENGTH && left > 0;
    // Without room for a value, none that is rarer is shown.
    if (isShown) left -= Buffer.byteLength(JSON.stringify({ value, count })) + 1;
    if (isShown && left >= 0) shown.push({ value, count });
    else {
      others += 1;
      items += count;
    }
  }
  return others === 0 ? shown : [...shown, { others, count: items }];
}

function tooMany(field: string) {
  const detail = `There are too many different values to count, the last one in ${field}. Narrow the list with query or a filter, or count by another field.`;
  return explained('result_too_large', detail);
}
