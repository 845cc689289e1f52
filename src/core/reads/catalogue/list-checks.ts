import { GatewayError } from '../../kernel/errors.ts';
import type { MappingFinding } from '../../kernel/events.ts';
import { createSizedLru } from '../../kernel/lru.ts';
import {
  emptiedBySettings,
  type FieldCounts,
  findingsOf,
  itemsLeft,
  type MappingCounts,
} from '../../mapping/mapper.ts';
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
  return async ({ keptIds: ids, items, counts }) => {
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
  const items = itemsLeft(counts);
  throw refused(
    `ids occur more than once (${items} items have ${items - counts.repeatedIds} distinct ids)`,
    'The list has ids that occur more than once.',
    `correct ${keys(resource, ['pagination', 'fields.id'])}, or set resources.${resource}.duplicateIds: allow if the platform repeats ids`,
  );
}

/** Throws `upstream_invalid` for a complete list that contradicts its settings. */
export function checkList(resource: string, rules: ListRules, counts: MappingCounts): void {
  const left = emptiedBySettings(counts);
  if (left === undefined || rules.allowEmpty === true || (rules.isOfParent === true && counts.received > 0)) return;
  throw refused(
    `every item of the reply was filtered out (${left.why})`,
    'The settings filter out every item of the reply.',
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

/** Names of fields, by what the lists of one caller have shown. */
interface Seen {
  readonly filled: ReadonlySet<string>;
  /** `values` named every text. */
  readonly mapped: ReadonlySet<string>;
}

const NOTHING_SEEN: Seen = { filled: new Set(), mapped: new Set() };
/** Fewer items show nothing. */
const MIN_ITEMS = 5;

/** Returns the warnings about a list by itself, and since earlier ones of the same name and cache scope. */
export function createComparison(maxLists: number) {
  const seenOf = createSizedLru<string, Seen>({ maxSize: maxLists });

  return (name: string, cacheScope: string, counts: MappingCounts): MappingFinding[] => {
    const key = `${name} ${cacheScope}`;
    const { filled, mapped } = seenOf.get(key) ?? NOTHING_SEEN;
    const fieldsThat = (select: (counts: FieldCounts, field: string) => boolean) =>
      [...counts.fields].flatMap(([field, counted]) => (select(counted, field) ? [field] : []));
    const lost = fieldsThat((of, field) => itemsLeft(counts) >= MIN_ITEMS && of.filled === 0 && filled.has(field));
    const unmapped = fieldsThat((of, field) => of.unmapped > 0 && mapped.has(field));
    const shown = fieldsThat((of) => of.filled >= MIN_ITEMS);
    const named = fieldsThat((of) => of.filled >= MIN_ITEMS && of.unmapped === 0);
    seenOf.set(key, { filled: new Set([...filled, ...shown]), mapped: new Set([...mapped, ...named]) });
    return [
      ...findingsOf(counts).filter(({ finding, field = '' }) => finding !== 'field_empty' || !lost.includes(field)),
      ...lost.map((field) => ({ finding: 'field_lost' as const, field })),
      ...unmapped.map((field) => ({ finding: 'value_unmapped' as const, field })),
    ];
  };
}
