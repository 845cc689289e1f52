import { LRUCache } from 'lru-cache';
import type { MappingFinding } from '../../kernel/events.ts';
import { findingsOf, type MappingCounts } from '../../mapping/mapper.ts';

/** A warning about a list. `isRepeated`: the last load had it, too. */
export type Found = MappingFinding & { readonly isRepeated?: boolean };

/** Returns the warnings about a list: what it shows by itself, and what has changed since the last list of its caller. */
export type CompareLists = (partition: string, counts: MappingCounts) => readonly Found[];

interface LastList extends Pick<MappingCounts, 'filled' | 'unmapped'> {
  readonly items: number;
}

const MIN_ITEMS = 5;

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
export function createComparison(maxCallers = 1): CompareLists {
  const lastOf = new LRUCache<string, LastList>({ max: maxCallers });
  const lost = new Set<string>();
  const unmapped = new Set<string>();

  return (partition, counts) => {
    const items = counts.received - counts.excluded - counts.dropped;
    const last = lastOf.get(partition);
    const changes: Found[] = [];
    const add = (finding: MappingFinding['finding'], field: string, known: Set<string>) => {
      changes.push({ finding, field, isRepeated: known.has(field) });
      known.add(field);
    };
    for (const [field, times] of counts.filled) {
      const wasFilled = last !== undefined && isMissed((last.filled.get(field) ?? 0) / last.items, items);
      if (times > 0) lost.delete(field);
      else if (items > 0 && (wasFilled || lost.has(field))) add('field_lost', field, lost);
      const isNew = wasFilled && last.unmapped.get(field) === 0;
      if ((counts.unmapped.get(field) ?? 0) > 0 && (isNew || unmapped.has(field)))
        add('value_unmapped', field, unmapped);
    }
    if (items >= MIN_ITEMS) lastOf.set(partition, { items, filled: counts.filled, unmapped: counts.unmapped });
    const others = findingsOf(counts).filter(
      ({ finding, field = '' }) => finding !== 'field_empty' || !lost.has(field),
    );
    return [...others, ...changes];
  };
}

/** Comparisons that outlive a reload: those of resources that are read as before. */
const MAX_KEPT = 16;

/** Returns the comparison of a resource, by its name in the cache. */
export function createComparisons(maxCallers: number): (name: string) => CompareLists {
  const kept = new LRUCache<string, CompareLists>({ max: MAX_KEPT });
  return (name) => {
    const comparison = kept.get(name) ?? createComparison(maxCallers);
    kept.set(name, comparison);
    return comparison;
  };
}
