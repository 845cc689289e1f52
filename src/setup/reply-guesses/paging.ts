import type { SettingsInput } from '../../core/config/schema/settings.ts';
import { HEADERS } from '../../core/upstream/signs/signs.ts';
import { expressionOf } from '../description/names.ts';
import type { Member } from './members.ts';
import { nameOf, type PagingWords, pagingWords, parameterOf, sizeIn } from './paging-words.ts';

type Resources = NonNullable<SettingsInput['resources']>;
/** The setting `pagination`, as a person writes it. */
export type PaginationInput = NonNullable<NonNullable<Resources['projects']>['pagination']>;

/** How a list seems to be spread over pages. */
export interface PagingGuess {
  readonly pagination: PaginationInput;
  /** What in the reply speaks for it: our words, and names of the platform's members. */
  readonly why: string;
}

/** The first page of a list, as a platform sent it. */
export interface FirstPage {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The setting `items`: the expression that finds the items of the page. */
  readonly items: string;
  /** How many it finds. */
  readonly count: number;
}

/**
 * Guesses how a platform pages a list, by the first page of it, the best guess first. There is one at least: `none`, where
 * nothing in the page speaks of others. What a guess does not know of a parameter, it leaves out: `sizeParam` is null then.
 */
export function guessPaging(page: FirstPage): PagingGuess[] {
  const words = pagingWords(page.body);
  const total = totalOf(page, words);
  const guesses = [byLink, byToken, byNumber, byLastItem, byTotal].flatMap((guess) => guess(page, words, total) ?? []);
  return guesses.length > 0 ? guesses : [wholeInOne(page, total)];
}

type Guess = (
  page: FirstPage,
  words: PagingWords,
  total: Total | undefined,
) => PagingGuess | readonly PagingGuess[] | undefined;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isEmpty = (value: unknown): boolean => value === null || value === '';
const isLink = (value: unknown): value is string => typeof value === 'string' && /^(?:https?:\/\/|[/?])/.test(value);
const isToken = (value: unknown): boolean => typeof value === 'string' && value !== '' && !isLink(value);

const byLink: Guess = ({ headers }, words) => {
  const header = [headers['link'] ?? []].flat().join(',');
  if (/;\s*rel="?(?:[^",;]*\s)?next\b/i.test(header)) {
    return { pagination: { kind: 'link', ...sizeOf(sizeIn(header)) }, why: 'the Link header names a next page' };
  }
  const link = words.find('link', isLink);
  if (link === undefined) return undefined;
  const next = expressionOf(link.path);
  return {
    pagination: { kind: 'link', next, ...sizeOf(sizeIn(String(link.value))) },
    why: `${next} links to a next page`,
  };
};

const byToken: Guess = (_page, words) => {
  if (words.find('link', isLink) !== undefined) return undefined;
  // The number of a next page stands beside that of this one, and is no token.
  const isNumbered = numberOf(words) !== undefined;
  const found =
    words.find('token', isToken) ??
    (isNumbered ? undefined : words.find('token', (value) => isEmpty(value) || isCount(value)));
  if (found === undefined) return undefined;
  const at = expressionOf(found.path);
  if (isEmpty(found.value) && nameOf(found.path) === 'next') {
    return {
      pagination: { kind: 'link', next: at, ...sizeNamed(words) },
      why: `${at} is empty, and seems to link to the next page where there is one`,
    };
  }
  const pagination: PaginationInput = {
    kind: 'token',
    tokenParam: parameterOf(found.path),
    next: whileMore(at, words),
    ...sizeNamed(words),
  };
  const what = isEmpty(found.value)
    ? 'is empty, and seems to hold a token where there is a next page'
    : 'holds a token for the next page';
  return { pagination, why: `${at} ${what}` };
};

/** Where a flag tells the end, what leads on from the last page leads nowhere. */
function whileMore(next: string, words: PagingWords): string {
  const more = words.find('more', (value) => typeof value === 'boolean');
  return more === undefined ? next : `${expressionOf(more.path)} && ${next}`;
}

const byNumber: Guess = (_page, words, total) => {
  const found = numberOf(words);
  if (found === undefined || words.find('token', isToken) !== undefined) return undefined;
  const { member, kind } = found;
  const common = { ...total?.setting, ...sizeNamed(words) };
  const parameter = parameterOf(member.path);
  const pagination: PaginationInput =
    kind === 'offset'
      ? { kind, offsetParam: parameter, ...common }
      : { kind, pageParam: parameter, firstPage: member.value === 0 ? 0 : 1, ...common };
  const what = `${expressionOf(member.path)} ${kind === 'offset' ? 'counts the items before this page' : 'is the number of this page'}`;
  return { pagination, why: total === undefined ? what : `${what}, and ${total.said}` };
};

/** What says where in the list a page begins. An offset is the surer one: `number` may mean anything. */
function numberOf(words: PagingWords): { readonly member: Member; readonly kind: 'offset' | 'page' } | undefined {
  const offset = words.find('offset', (value) => value === 0);
  if (offset !== undefined) return { member: offset, kind: 'offset' };
  const page = words.find('page', (value) => value === 0 || value === 1);
  return page && { member: page, kind: 'page' };
}

/** Lists that go on behind the id of their last item. */
const byLastItem: Guess = ({ items, count }, words) => {
  const more = words.find('more', (value) => value === true);
  const others = [numberOf(words), words.find('token', isToken), words.find('link', isLink)];
  if (more === undefined || count === 0 || others.some((other) => other !== undefined)) return undefined;
  const lastId = `${items === '@' ? '' : items}[-1].id`;
  return {
    pagination: { kind: 'token', tokenParam: 'starting_after', next: whileMore(lastId, words), ...sizeNamed(words) },
    why: `${expressionOf(more.path)} says that there is more, and nothing says how to ask for it: perhaps by the id of the last item`,
  };
};

const byTotal: Guess = (page, words, total) => {
  if (total === undefined || total.value <= page.count || numberOf(words) !== undefined) return undefined;
  // Something does say how to ask for the others.
  if (byLink(page, words, total) !== undefined || words.find('token', isToken) !== undefined) return undefined;
  const common = { ...total.setting, ...sizeNamed(words) };
  const why = `${total.said}, and nothing says how to ask for the others: perhaps like this`;
  return [
    { pagination: { kind: 'offset', ...common }, why },
    { pagination: { kind: 'page', ...common }, why },
  ];
};

function wholeInOne({ count }: FirstPage, total: Total | undefined): PagingGuess {
  const pagination: PaginationInput = { kind: 'none' };
  if (total !== undefined) return { pagination, why: total.said };
  const why = 'nothing in the reply speaks of further pages';
  // Nobody has so many by chance.
  return { pagination, why: count > 0 && count % 10 === 0 ? `${why}, but ${count} items may be a full page` : why };
}

interface Total {
  readonly value: number;
  readonly setting: { readonly total: string } | { readonly totalHeader: string };
  readonly said: string;
}

/** Totals of what a filter leaves, as `plainName` has them. */
const FILTERED: readonly string[] = ['filtercount', 'filteredcount', 'recordsfiltered', 'totalfiltered'];

const TOTAL_HEADERS = HEADERS.total.map((name) => name.toLowerCase());

/** How many items there are in all, by the page's own account. A count of its own items alone is less than that, if anything. */
function totalOf({ headers, count }: FirstPage, words: PagingWords): Total | undefined {
  const all = words.all('total', (value) => isCount(value) && value >= count);
  // Where the platform sends both, the filtered total counts, and not the total of the whole collection.
  const filtered = all.filter(({ path }) => FILTERED.includes(nameOf(path)));
  const members = filtered.length > 0 ? filtered : all;
  // Of several, one may be the length of the page.
  const most = Math.max(...members.map(({ value }) => Number(value)));
  const member = members.find(({ value }) => value === most);
  if (member !== undefined) {
    const total = expressionOf(member.path);
    return {
      value: Number(member.value),
      setting: { total },
      said: `${total} says ${member.value}, and ${count} came`,
    };
  }
  const totalHeader = TOTAL_HEADERS.find((name) => /^\d{1,15}$/.test(String(headers[name] ?? '')));
  if (totalHeader === undefined) return undefined;
  const value = Number(headers[totalHeader]);
  return { value, setting: { totalHeader }, said: `the header ${totalHeader} says ${value}, and ${count} came` };
}

/** The parameter for the page size, where a page says which size it has. */
function sizeNamed(words: PagingWords): { readonly sizeParam: string | null } {
  const size = words.find('size', (value) => isCount(value) && value > 0);
  return { sizeParam: size === undefined ? null : parameterOf(size.path) };
}

function sizeOf(found: { readonly sizeParam: string; readonly size: number } | undefined) {
  return found ?? { sizeParam: null };
}
