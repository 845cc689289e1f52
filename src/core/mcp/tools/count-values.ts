import { errorWithDetail } from '../../kernel/errors.ts';
import type { Item } from '../../resources/resource.ts';

/** Values that are named per field, and their length in UTF-16 code units. All others are counted together. */
const MAX_VALUES = 50;
const MAX_LENGTH = 64;

/** Maximum size of distinct values while counting, in UTF-16 code units: some 7,000 short ones. */
const MAX_DISTINCT = 524_288;
/** Charge per distinct value, for the table. */
const ENTRY = 64;

type ValueCount = { readonly count: number } & ({ readonly value: string } | { readonly others: number });

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
    /** Values by descending count, then by code unit. The last entry may be `others`. */
    counts(show: (field: string, value: string) => string): Readonly<Record<string, readonly ValueCount[]>> {
      return Object.fromEntries(
        counted.map(([field, counts]) => [field, mostFrequent(counts, (value) => show(field, value))]),
      );
    },
  };
}

function mostFrequent(counts: ReadonlyMap<string, number>, show: (value: string) => string): readonly ValueCount[] {
  const named = [...counts].filter(([value]) => value.length <= MAX_LENGTH);
  // By descending count, then by code unit.
  const first = named.sort(([a, times], [b, others]) => others - times || (a < b ? -1 : 1)).slice(0, MAX_VALUES);
  const shown = first.map(([value, count]): ValueCount => ({ value: show(value), count }));
  const others = counts.size - shown.length;
  if (others === 0) return shown;
  const sum = (all: Iterable<number>) => [...all].reduce((total, count) => total + count, 0);
  return [...shown, { others, count: sum(counts.values()) - sum(first.map(([, count]) => count)) }];
}

function tooMany(field: string) {
  const detail = `There are too many different values to count, the last one in ${field}. Narrow the list with query or a filter, or count by another field.`;
  return errorWithDetail('result_too_large', detail);
}
