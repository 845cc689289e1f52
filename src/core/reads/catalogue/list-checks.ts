import { GatewayError } from '../../kernel/errors.ts';
import { describeFinding, findingsOf, type MappingCounts, nothingLeft } from '../../mapping/mapper.ts';
import { inSteps } from '../../upstream/pagination/list-read.ts';
import type { MappedPage } from './page-reader.ts';

/** Rules by which a list that was read is an error. */
export interface ListRules {
  /** @default false */
  readonly allowEmpty?: boolean | undefined;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow' | undefined;
  /** Whether a mapped field that is empty in every item is an error. @default false */
  readonly strictMapping?: boolean | undefined;
}

/** Counts duplicate ids of one list, page by page, in steps of one turn of the event loop. */
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
    `ids occur more than once (${items} items hold ${items - counts.repeatedIds} distinct ids)`,
    'The list holds ids that occur more than once.',
    `correct ${keys(resource, ['pagination', 'fields.id'])}, or set resources.${resource}.duplicateIds: allow if the platform repeats ids`,
  );
}

/** Throws `upstream_invalid` for a complete list that contradicts its settings. */
export function checkList(resource: string, rules: ListRules, counts: MappingCounts): void {
  const left = nothingLeft(counts);
  if (left !== undefined && rules.allowEmpty !== true) {
    throw refused(
      `nothing is left of a reply that was not empty (${left.why})`,
      'The settings leave nothing of a reply that was not empty.',
      `correct ${keys(resource, left.keys)}, or set resources.${resource}.allowEmpty: true if an empty list is meant`,
    );
  }
  // strictMapping does not forbid what allowEmpty and duplicateIds allow.
  const found = rules.strictMapping ? findingsOf(counts).find(({ finding }) => finding === 'field_empty') : undefined;
  if (found === undefined) return;
  const what = `the field ${describeFinding(found)}`;
  throw new GatewayError('upstream_invalid', {
    reason: `${what} (strictMapping)`,
    detail: `The list could be read, but ${what}, and the settings of this resource forbid that (strictMapping).`,
  });
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
