import { explained } from '../../kernel/errors.ts';
import type { Item } from '../../resources/resource.ts';

/** Values that are named per field, and their length in UTF-16 code units. All others are counted together. */
const MAX_VALUES = 50;
const MAX_LENGTH = 256;

/** Maximum size of distinct values while counting, in UTF-16 code units: some 7,000 short ones. */
const MAX_DISTINCT = 524_288;
/** Charge per distinct value, for the table. */
const ENTRY = 64;

/** Size of a field's counts without its values: its name, and the count of others. */
const FRAME_BYTES = 96;

export type ValueCount = { readonly count: number } & ({ readonly value: string } | { readonly others: number });

export function createCounter(fields: readonly string[]) {
  const counted = fields.map((field) => [field, new Map<string, number>()] as const);
  let distinct = 0;
  return {
    /** Throws `result_too_large` if there are too many different values to count. */
    add(item: Item): void {
      for (const [field, counts] of counted) {
        const value = item[field] ?? '';
        const count = counts.get(value) ?? 0;
        if (count === 0) distinct += ENTRY + value.length;
        if (distinct > MAX_DISTINCT) throw tooMany(field);
        counts.set(value, count + 1);
      }
    },
    /** Of at most `maxBytes` as JSON: values by descending count, then by code unit. The last entry may be `others`. */
    counts(maxBytes: number): Readonly<Record<string, readonly ValueCount[]>> {
      const share = Math.floor(maxBytes / fields.length);
      return Object.fromEntries(counted.map(([field, counts]) => [field, mostFrequent(counts, share)]));
    },
  };
}

function mostFrequent(counts: ReadonlyMap<string, number>, maxBytes: number): readonly ValueCount[] {
  const shown: ValueCount[] = [];
  let left = maxBytes - FRAME_BYTES;
  let items = 0;
  const named = [...counts].filter(([value]) => value.length <= MAX_LENGTH);
  for (const [value, count] of named.sort(compare).slice(0, MAX_VALUES)) {
    left -= Buffer.byteLength(JSON.stringify({ value, count })) + 1;
    if (left < 0) break;
    shown.push({ value, count });
    items += count;
  }
  const others = counts.size - shown.length;
  if (others === 0) return shown;
  const all = counts.values().reduce((sum, count) => sum + count, 0);
  return [...shown, { others, count: all - items }];
}

/** By descending count, then by code unit. */
function compare(
  [value, count]: readonly [string, number],
  [otherValue, otherCount]: readonly [string, number],
): number {
  return otherCount - count || (value < otherValue ? -1 : 1);
}

function tooMany(field: string) {
  const detail = `There are too many different values to count, the last one in ${field}. Narrow the list with query or a filter, or count by another field.`;
  return explained('result_too_large', detail);
}
