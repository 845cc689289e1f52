import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../kernel/errors.ts';
import type { MappingFinding } from '../../kernel/events.ts';
import { createSizedLru } from '../../kernel/lru.ts';
import { findingsOf, type MappingCounts, nothingLeft } from '../../mapping/mapper.ts';
import { inSteps } from '../../upstream/paging/list-read.ts';
import type { MappedPage } from './page-reader.ts';

export interface ListRules {
  /** @default false */
  readonly allowEmpty?: boolean | undefined;
  /** A list of one parent, of which `where` may leave nothing. @default false */
  readonly isOfParent?: boolean | undefined;
  /** A 404 to the first page. @default 'error' */
  readonly notFound?: 'error' | 'empty' | undefined;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow' | undefined;
}

/** Counts duplicate ids of one list, page by page, in turns of the event loop. */
export function createDistinctIds(): (page: MappedPage) => Promise<number> {
  const seen = new Set<string>();
  return async ({ ids, items, counts }) => {
    // The page is the whole list.
    if (ids === undefined) return counts.repeatedIds;
    const before = seen.size;
    for await (const some of inSteps(ids)) for (const id of some) seen.add(id);
    return items.starts.length - (seen.size - before);
  };
}

/** Throws `upstream_invalid` for duplicate ids so far, unless settings allow them. */
export function checkIds(resource: string, { duplicateIds }: ListRules, counts: MappingCounts): void {
  if (counts.repeatedIds === 0 || duplicateIds === 'allow') return;
  const items = counts.received - counts.excluded - counts.dropped;
  throw refused(
    `ids occur more than once (${items} items have ${items - counts.repeatedIds} distinct ids)`,
    'The list has ids that occur more than once.',
    `correct ${keys(resource, ['pagination', 'fields.id'])}, or set resources.${resource}.duplicateIds: allow if the platform repeats ids`,
  );
}

/** Throws `upstream_invalid` for a complete list that contradicts its settings. */
export function checkList(resource: string, rules: ListRules, counts: MappingCounts): void {
  const left = nothingLeft(counts);
  if (left === undefined || rules.allowEmpty === true || (rules.isOfParent === true && counts.received > 0)) return;
  throw refused(
    `nothing is left of a reply that was not empty (${left.why})`,
    'The settings leave nothing of a reply that was not empty.',
    `correct ${keys(resource, left.keys)}, or set resources.${resource}.allowEmpty: true if an empty list is meant`,
  );
}

function keys(resource: string, names: readonly string[]): string {
  return names.map((name) => `resources.${resource}.${name}`).join(' or ');
}

function refused(reason: string, detail: string, cure: string): GatewayError {
  return new GatewayError('upstream_invalid', {
    reason: `${reason}: ${cure}`,
    detail: `${detail} The operator of the gateway has to ${cure}.`,
  });
}

/** A warning about a list. `isRepeated`: the last load had it, too. */
export type Found = MappingFinding & { readonly isRepeated?: boolean };

/** Returns the warnings about a list by itself, and since the last one of the same name and cache scope. */
type CompareLists = (name: string, cacheScope: string, counts: MappingCounts) => readonly Found[];

interface LastList extends Pick<MappingCounts, 'filled' | 'unmapped'> {
  readonly items: number;
}

const MIN_ITEMS = 5;
/** Changes that hold. More than there are fields of all resources. */
const MAX_FOUND = 256;

/** Whether none of so many items is a change: by the share before, five or more would have it (docs/decisions/0004). */
function isMissed(share: number, items: number): boolean {
  return share * items >= MIN_ITEMS;
}

/** Compares each list with the last one of the same caller. A change holds for the resource until any list has the field again. */
export function createComparison(maxLists: number): CompareLists {
  const lastOf = createSizedLru<string, LastList>({ maxSize: maxLists });
  const held = new LRUCache<string, true>({ max: MAX_FOUND });

  return (name, cacheScope, counts) => {
    const { received, excluded, dropped, filled, unmapped } = counts;
    const items = received - excluded - dropped;
    const last = lastOf.get(`${name} ${cacheScope}`);
    // The counts of a reused reply: nothing has changed. To compare them takes 2 % of such a read.
    if (last?.filled === filled && held.size === 0) return findingsOf(counts);
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
    if (items >= MIN_ITEMS) lastOf.set(`${name} ${cacheScope}`, { items, filled, unmapped });
    const isLost = (field?: string) => changes.some((one) => one.finding === 'field_lost' && one.field === field);
    return [
      ...findingsOf(counts).filter(({ finding, field }) => finding !== 'field_empty' || !isLost(field)),
      ...changes,
    ];
  };
}
