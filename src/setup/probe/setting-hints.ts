import { PaginationSettings } from '../../core/config/schema/resource/pagination-settings.ts';
import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import type { Resource } from '../../core/resources/resource.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { lastName, type Parameter, undocumented } from '../describe/listing.ts';
import { type Shape, shapeOfValue } from '../describe/shape.ts';
import { guessFields } from '../guess/guess-fields.ts';
import { guessItems, type ItemsGuess } from '../guess/guess-items.ts';
import {
  guessPaging,
  isToken,
  type Pagination,
  type PagingGuess,
  pageMembers,
  totalOf,
} from '../guess/guess-paging.ts';
import { parameterFor } from '../guess/paging-names.ts';
import { wordsOf } from '../guess/vocabulary.ts';
import { inlineYaml } from '../init/yaml-text.ts';
import type { Hint } from './probe-report.ts';
import { NotTried, type Try } from './trials.ts';

export type ReadPage = Pick<SeenPage, 'body' | 'headers'> & { readonly count: number | undefined };

export interface HintContext {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly attempt: Try;
  readonly lookAt: readonly string[];
}

const MAX_HINTS = 3;

/** Returns settings that fit the first page better. A hint for paging has led to another page in a trial. */
export async function hintsFor(page: ReadPage, { resource, settings, attempt, lookAt }: HintContext): Promise<Hint[]> {
  const at = `resources.${resource.name}`;
  const lists = guessItems(shapeOfValue(page.body), resource.name);
  const elsewhere = lists.filter(({ count = 0 }) => (page.count ?? 0) === 0 && count > 0);
  if (page.count === undefined || elsewhere.length > 0) {
    return (elsewhere.length > 0 ? elsewhere : lists)
      .slice(0, MAX_HINTS)
      .map((guess) => ({ setting: `${at}.items`, value: inlineYaml(guess.items), why: whyItems(guess) }));
  }
  if (lookAt.some((setting) => setting.startsWith(`${at}.fields`))) {
    const item = lists.find(({ items }) => items === settings.items)?.item;
    const fields = item && betterFields(resource, item, settings);
    const why = 'members of the items with similar names';
    return fields === undefined ? [] : [{ setting: `${at}.fields`, value: inlineYaml(fields), why }];
  }
  if (!lookAt.includes(`${at}.pagination`) || settings.method === 'POST') return [];
  const guesses = guessFromPage({ ...page, count: page.count });
  const hints: Hint[] = [];
  for (const { pagination, why } of guesses.slice(0, MAX_HINTS)) {
    if (pagination.kind === settings.pagination.kind || !(await leadsOn(pagination, attempt))) continue;
    hints.push({ setting: `${at}.pagination`, value: inlineYaml(pagination), why });
  }
  return hints;
}

/** Whether a read with this paging comes to a second page that differs from the first. */
async function leadsOn({ total: _total, totalHeader: _header, ...serial }: Pagination, attempt: Try): Promise<boolean> {
  try {
    const pagination = PaginationSettings.parse(serial);
    const [one, two] = await attempt({ settings: { pagination }, maxPages: 2 });
    return one !== undefined && two !== undefined && two.count > 0 && two.ids !== one.ids;
  } catch (error) {
    if (error instanceof NotTried) return false;
    throw error;
  }
}

function betterFields(resource: Resource, item: Shape, { fields, path }: ResourceConfig) {
  const guesses = guessFields(resource, item, wordsOf(lastName(path)).at(-1) ?? '');
  const found = [...guesses].flatMap(([field, { from }]) => (from === undefined ? [] : [[field, from] as const]));
  return found.every(([field, from]) => fields[field]?.from === from) ? undefined : Object.fromEntries(found);
}

function whyItems({ count = 0, item }: ItemsGuess): string {
  if (count === 0) return 'there is an empty list';
  const keys = [...item.members.keys()].slice(0, 8).join(', ');
  return `there ${count === 1 ? 'is 1 item' : `are ${count} items`} with ${keys}`;
}

export interface SeenPage {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: ReplyHeaders;
  readonly count: number;
}

/** Guesses how a list is paged by its first page, without a document, the surest guess first. */
export function guessFromPage({ count, ...page }: SeenPage): PagingGuess[] {
  const body = shapeOfValue(page.body);
  const headers = new Map(Object.entries(page.headers).map(([name, value]) => [name, [value ?? ''].flat().join()]));
  const list = { body, headers, parameters: inferParameters(body), count };
  const guesses = guessPaging(list);
  if (guesses.length > 0 || (totalOf(list)?.value ?? 0) <= count) return guesses;
  // The total is all that shows further pages: the usual parameters are tried.
  const usual = [undocumented('offset', 'offset'), undocumented('page', 'page', { minimum: 1 })];
  return usual.flatMap((each) => guessPaging({ ...list, parameters: [each] }));
}

const SHOWN = {
  token: isToken,
  offset: ({ value }: Shape) => value === 0,
  page: ({ value }: Shape) => value === 0 || value === 1,
};

/** Infers the query parameters of a list from its first page, whose members mostly have the names of parameters. */
function inferParameters(body: Shape): Parameter[] {
  return (['token', 'offset', 'page'] as const).flatMap((role) => {
    const [member] = pageMembers(body, role, SHOWN[role]);
    if (member === undefined) return [];
    const known = role === 'page' ? { minimum: Number(member.shape.value) } : {};
    return [undocumented(parameterFor(member.path), role, known)];
  });
}
