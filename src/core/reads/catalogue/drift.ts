import { LRUCache } from 'lru-cache';
import type { MappingFinding } from '../../kernel/events.ts';
import { findingsOf, type MappingCounts } from '../../mapping/mapper.ts';

/** A warning about a list. `isRepeated`: the last load had it, too. */
export type Found = MappingFinding & { readonly isRepeated?: boolean };

/**
 * Returns the warnings about a list: what it shows by itself, and what has changed since the last one of the same name
 * and partition.
 */
export type CompareLists = (name: string, partition: string, counts: MappingCounts) => readonly Found[];

interface LastList extends Pick<MappingCounts, 'filled' | 'unmapped'> {
  readonly items: number;
}

const MIN_ITEMS = 5;
/** Changes that hold. More than there are fields of all resources. */
const MAX_FOUND = 256;

/**
 * Returns whether it is a change that none of so many items has what a share of them had before: by that share, five or
 * more would have it (docs/decisions/0067).
 */
export function isMissed(share: number, items: number): boolean {
  return share * items >= MIN_ITEMS;
}

/**
 * Compares each list with the last one of the same caller, because callers may see different lists. A change that one
 * caller's list shows holds for the resource, until a list of any caller has the field again. Keeps counts only.
 */
export function createComparison(maxLists = 1): CompareLists {
  const lastOf = new LRUCache<string, LastList>({ max: maxLists });
  const held = new LRUCache<string, true>({ max: MAX_FOUND });

  return (name, partition, counts) => {
    const { received, excluded, dropped, filled, unmapped } = counts;
    const items = received - excluded - dropped;
    const last = lastOf.get(`${name} ${partition}`);
    const changes: Found[] = [];
    const check = (finding: MappingFinding['finding'], field: string, isNew: boolean) => {
      const key = `${name} ${finding} ${field}`;
      const isRepeated = held.has(key);
      if (!isNew && !isRepeated) return;
      changes.push({ finding, field, isRepeated });
      held.set(key, true);
    };
    for (const [field, times] of filled) {
      const wasFilled = last !== undefined && isMissed((last.filled.get(field) ?? 0) / last.items, items);
      if (times > 0) held.delete(`${name} field_lost ${field}`);
      else if (items > 0) check('field_lost', field, wasFilled);
      if (unmapped.get(field)) check('value_unmapped', field, wasFilled && last.unmapped.get(field) === 0);
    }
    if (items >= MIN_ITEMS) lastOf.set(`${name} ${partition}`, { items, filled, unmapped });
    const isLost = (field?: string) => changes.some((one) => one.finding === 'field_lost' && one.field === field);
    return [
      ...findingsOf(counts).filter(({ finding, field }) => finding !== 'field_empty' || !isLost(field)),
      ...changes,
    ];
  };
}
