import type { Load } from '../../reads/snapshots/load.ts';
import type { Filter } from './arguments.ts';
import { listValues, type Values } from './known-values.ts';
import type { SearchResult } from './search.ts';

/** Why a list has no items: the platform has none, or the values that the filter's fields have in this list, which is the caller's own. */
export function hintFor(
  { snapshot, excluded, dropped }: Load,
  { query, values, after }: Filter,
  found: SearchResult | undefined,
  show: (field: string, text: string) => string,
): string | undefined {
  // Otherwise `leftOut` says why.
  if (snapshot.count + excluded + dropped === 0) return 'The platform returned no items for this caller.';
  if (found === undefined || found.indices.length > 0) return undefined;
  const hints = Object.keys(values).map((field) =>
    hintOf(field, found.seen.get(field) ?? new Set(), (value) => show(field, value)),
  );
  // Many platforms state no times: all items would seem to be older.
  if (after !== undefined && found.seen.get(after.field)?.size === 0)
    hints.push(`${after.field} has no value in this list.`);
  if (query !== undefined) hints.push('query: use a shorter text, or omit it.');
  return ['No item fits.', ...hints].join(' ');
}

function hintOf(field: string, seen: Values, show: (text: string) => string): string {
  const inList = listValues(seen, show);
  return `${field} ${inList === '' ? 'has no value in this list' : `is one of these in this list: ${inList}`}.`;
}
