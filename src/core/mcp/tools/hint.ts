import type { Filter } from './arguments.ts';
import { listValues, type Values, valuesOf } from './known-values.ts';

/**
 * Returns a hint for a filter without results: the values of its fields in this list, and further ones in settings.
 * `seen` must come from the list that was searched, which belongs to this caller.
 */
export function hintFor(
  { query, values }: Filter,
  seen: ReadonlyMap<string, Values>,
  known: Readonly<Record<string, readonly string[]>>,
): string {
  const fields = Object.keys(values);
  const hints = fields.map((field) => hintOf(field, seen.get(field), known[field] ?? []));
  if (query !== undefined) hints.push('query: search for a shorter text, or omit it.');
  const together = hints.length > 1 ? ' all of this together' : '';
  return [`No item fits${together}.`, ...hints].join(' ');
}

function hintOf(field: string, seen: Values = valuesOf([]), known: readonly string[]): string {
  const inList = listValues(seen);
  const elsewhere = listValues(valuesOf(known.filter((value) => !seen.values.includes(value))));
  const there = inList === '' ? 'has no value in this list' : `is one of these in this list: ${inList}`;
  return `${field} ${there}${elsewhere === '' ? '' : `; known, but not in this list: ${elsewhere}`}.`;
}
