import { invalid } from '../invalid.ts';

/** Evaluates an expression reference (`&name`) over one value. */
export type EvaluateReference = (reference: unknown, value: unknown) => unknown;

type Key = string | number;

/**
 * Sorting, greatest and least: numbers by value, texts by code point, equal ones in the order they had. The library
 * sorts numbers as texts, reverses what is equal, finds no greatest among texts, and compares them by locale.
 */
export function createOrdering(evaluate: EvaluateReference) {
  const keyed = (list: readonly unknown[], reference: unknown) => {
    const pairs = list.map((value) => ({ value, key: evaluate(reference, value) }));
    const kind = typeof pairs[0]?.key;
    if (pairs.some(({ key }) => typeof key !== kind || (kind !== 'string' && kind !== 'number'))) {
      throw invalid('what is to be ordered is neither all text nor all numbers');
    }
    return pairs as { value: unknown; key: Key }[];
  };
  return {
    sort: (list: readonly Key[]) => [...list].sort(compare),
    sort_by: (list: readonly unknown[], reference: unknown) =>
      keyed(list, reference)
        .sort((left, right) => compare(left.key, right.key))
        .map(({ value }) => value),
    max: (list: readonly Key[]) => first(list, (left, right) => compare(left, right) > 0),
    min: (list: readonly Key[]) => first(list, (left, right) => compare(left, right) < 0),
    max_by: (list: readonly unknown[], reference: unknown) =>
      first(keyed(list, reference), (left, right) => compare(left.key, right.key) > 0)?.value ?? null,
    min_by: (list: readonly unknown[], reference: unknown) =>
      first(keyed(list, reference), (left, right) => compare(left.key, right.key) < 0)?.value ?? null,
  };
}

/** The first value that no other one is before; null where there are none. */
function first<T>(list: readonly T[], isBefore: (left: T, right: T) => boolean): T | null {
  return list.length === 0 ? null : list.reduce((best, value) => (isBefore(value, best) ? value : best));
}

function compare(left: Key, right: Key): number {
  if (typeof left === 'number' || typeof right === 'number') return Number(left) - Number(right);
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index += 1) {
    if (left.charCodeAt(index) !== right.charCodeAt(index)) {
      return Number(left.codePointAt(index)) - Number(right.codePointAt(index));
    }
  }
  return left.length - right.length;
}
