import type { Load } from '../../reads/snapshots/load.ts';
import type { Filter } from './arguments.ts';
import { listValues, type Values } from './known-values.ts';
import type { SearchResult } from './search.ts';

const NONE_EXIST = 'The platform returned no items for this caller.';
const NONE_LEFT = 'Every item of the platform was excluded or dropped: see leftOut.';

/**
 * Why a list has no items, or the values of the filter's fields in this list, and further ones in settings. `found` must come
 * from this load, which belongs to this caller.
 */
export function hintFor(
  { snapshot, excluded, dropped }: Load,
  { query, values }: Filter,
  found: SearchResult | undefined,
  known: Readonly<Record<string, readonly string[]>>,
  show: (field: string, text: string) => string,
): string | undefined {
  if (snapshot.count === 0) return excluded + dropped === 0 ? NONE_EXIST : NONE_LEFT;
  if (found === undefined || found.indices.length > 0) return undefined;
  const hints = Object.keys(values).map((field) =>
    hintOf(field, found.seen.get(field) ?? new Set(), known[field] ?? [], (value) => show(field, value)),
  );
  if (query !== undefined) hints.push('query: use a shorter text, or omit it.');
  const together = hints.length > 1 ? ' all of this together' : '';
  return [`No item fits${together}.`, ...hints].join(' ');
}

function hintOf(field: string, seen: Values, known: readonly string[], show: (text: string) => string): string {
  const inList = listValues(seen, show);
  const elsewhere = listValues(known.filter((value) => !seen.has(value)));
  const there = inList === '' ? 'has no value in this list' : `is one of these in this list: ${inList}`;
  return `${field} ${there}${elsewhere === '' ? '' : `; known, but not in this list: ${elsewhere}`}.`;
}
