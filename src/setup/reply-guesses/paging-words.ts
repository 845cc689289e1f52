import { MEMBERS } from '../../core/upstream/signs/signs.ts';
import { plainName } from '../description/names.ts';
import { type Member, membersOf } from './members.ts';

const { next = [], total = [], more = [] } = MEMBERS;

/**
 * What platforms call that which tells how a list is paged, as `plainName` has it: what says most comes first. By what tells
 * that there is more, a read is held to it (`signs.ts`); the rest is of use for a guess alone.
 */
const WORDS = {
  link: plain(['odataNextLink', 'nextLink', 'nextPageUrl', 'nextUrl', 'next', 'nextPage', ...next]),
  token: plain([
    ...['nextPageToken', 'nextCursor', 'nextToken', 'nextMarker', 'continuationToken', 'continuation', 'continue'],
    ...['endCursor', 'scrollId', 'cursor', 'after', 'next', 'nextPage', ...next],
  ]),
  total: plain([...total, 'filterCount', 'filteredCount', 'totalFiltered']),
  more: plain(more),
  offset: ['offset', 'skip', 'startat', 'startindex', 'start', 'from'],
  page: ['currentpage', 'pagenumber', 'pageindex', 'page', 'number', 'index'],
  size: ['perpage', 'pagesize', 'limit', 'maxresults', 'itemsperpage', 'size', 'top'],
} as const satisfies Record<string, readonly string[]>;

function plain(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(plainName))];
}

/** What a member may be there for. */
export type Role = keyof typeof WORDS;

/** The members of a page that speak of other pages. */
export interface PagingWords {
  /** The members whose value fits, what says most by its name first; of several of one name, the nearest to the top. */
  all(role: Role, fits: (value: unknown) => boolean): readonly Member[];
  /** The first of them. */
  find(role: Role, fits: (value: unknown) => boolean): Member | undefined;
}

export function pagingWords(body: unknown): PagingWords {
  const byName = Map.groupBy(membersOf(body), ({ path }) => nameOf(path));
  const all: PagingWords['all'] = (role, fits) =>
    WORDS[role].flatMap((name) => byName.get(name) ?? []).filter(({ value }) => fits(value));
  return { all, find: (role, fits) => all(role, fits)[0] };
}

/** Its last key; but of `links.next.href` it is `next` that tells what it is, and of `total.value` it is `total`. */
export function nameOf(path: readonly string[]): string {
  const last = plainName(path.at(-1));
  return ['href', 'url', 'value'].includes(last) ? plainName(path.at(-2)) : last;
}

/** How the parameter is called where its value stands in a page under such a name; else it is called the same. */
const PARAMETERS: Readonly<Record<string, string>> = {
  endcursor: 'after',
  nextcursor: 'cursor',
  nextpage: 'page',
  nextmarker: 'marker',
  currentpage: 'page',
  number: 'page',
};

/** The query parameter that asks for what a page shows at `path`: `page_token` for `next_page_token`. */
export function parameterOf(path: readonly string[]): string {
  const key = path.at(-1) ?? '';
  const token = /^next(_page_token|PageToken)$/.exec(key)?.[1]?.replace(/^_/, '');
  return PARAMETERS[plainName(key)] ?? (token && token.charAt(0).toLowerCase() + token.slice(1)) ?? key;
}

/** The page size that a link asks for, and in which parameter. */
export function sizeIn(link: string): { readonly sizeParam: string; readonly size: number } | undefined {
  for (const [, written = '', digits = ''] of link.matchAll(/[?&]([^=&#>\s]{1,64})=(\d{1,6})(?=[&#>]|$)/g)) {
    const sizeParam = decoded(written);
    const size = Number(digits);
    if ((WORDS.size as readonly string[]).includes(plainName(sizeParam)) && size >= 1 && size <= 100_000) {
      return { sizeParam, size };
    }
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
