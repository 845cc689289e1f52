import type { Listing, PagedList, Parameter, ParameterRole } from '../describe/listing.ts';
import { expressionOf, type Member, membersOf, plainName, type Shape } from '../describe/shape.ts';
import { FILTERED_TOTALS, PAGE_MEMBERS, PAGE_WORDS, PARAMETERS, TOTAL_HEADERS } from './paging-names.ts';

/** The setting `pagination`, as a file holds it. */
export type Pagination = { readonly kind: string } & Readonly<Record<string, string | number | null>>;

export interface PagingGuess {
  readonly pagination: Pagination;
  /** Set if the list could be short without an error, so that `pagination` is only a setting to begin with. */
  readonly isUnsafe?: true;
  readonly why: string;
  /** What a person should check, in words that follow "check". */
  readonly doubts: readonly string[];
}

/** A setting to begin with: it fails on each sign of a further page. */
const STRICTEST: Pagination = { kind: 'link', sizeParam: null };

const SIZE = 100;

/** Returns the ways of paging that the parameters, members and headers of a list show, the surest first. */
export function guessPaging(listing: PagedList): PagingGuess[] {
  return [byToken, byLink, byOffset, byPage].flatMap((guess) => guess(listing) ?? []);
}

/** Returns the query parameter of a role, the surest by its name. */
export function parameterOf({ parameters }: PagedList, role: ParameterRole): Parameter | undefined {
  const values = parameters.filter((each) => !each.isFlag);
  const byName = PARAMETERS[role].flatMap((name) => values.filter((each) => plainName(each.name) === name));
  return values.find((each) => each.role === role) ?? byName.find((each) => each.role === undefined);
}

/** Returns the members of a role that are accepted, the surest by its name first, then the nearest to the top. */
export function pageMembers(
  body: Shape,
  role: keyof typeof PAGE_MEMBERS,
  accepts: (shape: Shape) => boolean,
): Member[] {
  const byName = Map.groupBy(membersOf(body), nameOf);
  return PAGE_MEMBERS[role].flatMap((name) => byName.get(name) ?? []).filter(({ shape }) => accepts(shape));
}

/** The last key; of `links.next.href` it is `next`, and of `total.value` it is `total`. */
function nameOf({ path }: Member): string {
  const last = plainName(path.at(-1));
  return ['href', 'url', 'value'].includes(last) ? plainName(path.at(-2)) : last;
}

/** Whether a member holds a link, or can hold one. */
export function isLink({ type, value }: Shape): boolean {
  return value === undefined ? type === 'text' : typeof value === 'string' && /^(?:https?:\/\/|[/?])/.test(value);
}

/** Whether a member holds a token, or can hold one. Some platforms number their next page. */
export function isToken(shape: Shape): boolean {
  const { type, value } = shape;
  if (value === undefined) return type === 'text' || type === 'unknown';
  return typeof value === 'number' ? value > 0 : typeof value === 'string' && value !== '' && !isLink(shape);
}

function sizeOf(listing: PagedList): { sizeParam: string | null; size?: number } {
  const size = parameterOf(listing, 'size');
  if (size === undefined) return { sizeParam: null };
  const { maximum = SIZE } = size;
  return { sizeParam: size.name, size: Math.floor(maximum < 2 ? SIZE : Math.min(maximum, SIZE)) };
}

function byToken(listing: PagedList): PagingGuess | undefined {
  const parameter = parameterOf(listing, 'token');
  const [member] = pageMembers(listing.body, 'token', isToken);
  if (parameter === undefined || member === undefined) return undefined;
  const at = expressionOf(member.path);
  // On some platforms a flag shows the end, and the last page still has a token.
  const [flag] = pageMembers(listing.body, 'more', ({ type }) => type === 'boolean');
  const next = flag === undefined ? at : `${expressionOf(flag.path)} && ${at}`;
  const pagination = { kind: 'token', tokenParam: parameter.name, next, ...sizeOf(listing) };
  return { pagination, why: `${at} of a page is the parameter ${parameter.name} of the next one`, doubts: [] };
}

/** Guesses links, unless a total allows to request several pages at once. */
function byLink(listing: PagedList): PagingGuess | undefined {
  const counts = parameterOf(listing, 'offset') ?? parameterOf(listing, 'page');
  if (counts !== undefined && totalOf(listing) !== undefined) return undefined;
  const link = { kind: 'link', ...sizeOf(listing) };
  const header = listing.headers.get('link');
  if (header === '' || (header !== undefined && /;\s*rel="?(?:[^",;]*\s)?next\b/i.test(header))) {
    return { pagination: link, why: 'a Link header leads to the next page', doubts: [] };
  }
  const [member] = pageMembers(listing.body, 'link', isLink);
  if (member === undefined) return undefined;
  const next = expressionOf(member.path);
  const doubts = [`whether ${next} is the address of the next page, not a token`];
  const isSeen = member.shape.value !== undefined;
  return { pagination: { ...link, next }, why: `${next} links to the next page`, doubts: isSeen ? [] : doubts };
}

type Total = NonNullable<ReturnType<typeof totalOf>>;

/** Returns the total of a list. A number below the number of received items is not one. */
export function totalOf({ body, headers, count = 0 }: PagedList) {
  const totalHeader = TOTAL_HEADERS.find((name) => /^\d{0,15}$/.test(headers.get(name) ?? 'none'));
  if (totalHeader !== undefined) {
    const text = headers.get(totalHeader) ?? '';
    const value = text === '' ? undefined : Number(text);
    return { setting: { totalHeader }, value, why: `the header ${totalHeader} is the number of all items` };
  }
  // A reply that can be a list or an object, as parameters say, is a list unless the other form is requested.
  if (body.type === 'list') return undefined;
  const all = pageMembers(body, 'total', ({ type, value }) =>
    value === undefined
      ? type === 'number' || type === 'unknown'
      : Number.isSafeInteger(value) && Number(value) >= count,
  );
  const filtered = all.filter((member) => FILTERED_TOTALS.includes(nameOf(member)));
  // The largest: one of several can be the length of the page.
  const [found] = (filtered.length > 0 ? filtered : all).toSorted((a, b) => seenNumber(b) - seenNumber(a));
  if (found === undefined) return undefined;
  const total = expressionOf(found.path);
  const value = found.shape.value === undefined ? undefined : seenNumber(found);
  return { setting: { total }, value, why: `${total} is the number of all items` };
}

function seenNumber({ shape }: Member): number {
  return Number(shape.value ?? 0);
}

const UNTIL_EMPTY = 'there is no total, so pages are requested up to an empty one';

function byOffset(listing: PagedList): PagingGuess | undefined {
  const parameter = parameterOf(listing, 'offset');
  if (parameter === undefined || (!parameter.isNumber && parameterOf(listing, 'page') !== undefined)) return undefined;
  const total = totalOf(listing);
  const why = `the parameter ${parameter.name} skips items; ${total?.why ?? UNTIL_EMPTY}`;
  const first = parameter.minimum ?? Number(parameter.value ?? 0);
  if (first !== 0) {
    // From 1 on, the first request would be for item 0, which platforms answer in different ways.
    const doubts = [`whether ${parameter.name} counts from ${first}; Portico counts from 0`];
    return { pagination: STRICTEST, isUnsafe: true, why, doubts };
  }
  const pagination = { kind: 'offset', offsetParam: parameter.name, ...sizeOf(listing), ...total?.setting };
  return { pagination, why, doubts: [] };
}

function byPage(listing: PagedList): PagingGuess | undefined {
  const parameter = parameterOf(listing, 'page');
  if (parameter === undefined) return undefined;
  const total = totalOf(listing);
  const known = firstPageIn(parameter);
  // With a total, a read from 1 that misses page 0 is short of it and fails. Without one, either number could be wrong
  // without an error: some platforms send nothing for a page before their first.
  const firstPage = known ?? 1;
  const pagination = { kind: 'page', pageParam: parameter.name, firstPage, ...sizeOf(listing), ...total?.setting };
  const why = `the parameter ${parameter.name} is the number of the page; ${total?.why ?? UNTIL_EMPTY}`;
  if (known !== undefined) return { pagination, why, doubts: [] };
  const doubts = ['whether pages are counted from 0 or from 1'];
  return { pagination, ...(total === undefined && { isUnsafe: true }), why, doubts };
}

function firstPageIn({ minimum, value }: Parameter): 0 | 1 | undefined {
  if (minimum === 0 || value === '0') return 0;
  return minimum === 1 || value === '1' ? 1 : undefined;
}

/** Page size that every platform allows that has a parameter for it. */
const CERTAIN_SIZE = 10;

/** Usual page sizes: so many items can be a full page. */
const USUAL_SIZES = new Set([10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200, 250, 300, 500, 1000]);

const HOW = 'how the platform pages this list';

/** Proposes the surest way of paging that is not short without an error, or a setting that fails on a full page. */
export function proposePaging(listing: Listing): PagingGuess {
  return guessPaging(listing)[0] ?? withoutNext(listing, totalOf(listing));
}

function withoutNext(listing: Listing, total: Total | undefined): PagingGuess {
  const size = parameterOf(listing, 'size');
  if (size !== undefined) {
    // A page as long as requested, without a link to a next one, is an error, so that the list is never short. The size has
    // to be one that the platform allows for certain: a page that it cuts would look like the last.
    const known = size.maximum ?? Number(size.value ?? CERTAIN_SIZE);
    const certain = Number.isInteger(known) && known >= 2 ? Math.min(known, SIZE) : CERTAIN_SIZE;
    const pagination = { kind: 'link', sizeParam: size.name, size: certain, ...total?.setting };
    const why = `the parameter ${size.name} is the size of a page, and nothing leads to the second page`;
    return { pagination, why, doubts: [`${HOW}: until then a full page without a Link header is an error`] };
  }
  const token = parameterOf(listing, 'token');
  const [next] = pageMembers(listing.body, 'token', ({ type }) => type === 'text' || type === 'number');
  if (token !== undefined || next !== undefined) {
    const found = token === undefined ? `a member ${expressionOf(next?.path ?? [])}` : `a parameter ${token.name}`;
    return undecided(`there is ${found}, and nothing else that leads to the second page`);
  }
  if (listing.count !== undefined) return seenWhole(listing.count, total?.value);
  if (total !== undefined) {
    const why = `${total.why}, and nothing leads to a second page`;
    const doubts = [`${HOW}: until then fewer items than the total are an error`];
    return { pagination: { ...STRICTEST, ...total.setting }, why, doubts };
  }
  const other = listing.parameters.find((each) => PAGE_WORDS.test(each.name));
  if (other !== undefined) return undecided(`the parameter ${other.name} seems to concern pages`);
  return { pagination: { kind: 'none' }, why: 'no parameter and no member of the reply concerns pages', doubts: [] };
}

/** Proposes a setting for a list whose reply no known parameter changes. */
function seenWhole(count: number, total: number | undefined): PagingGuess {
  if (count < 2) return undecided(`${count === 1 ? 'one item is' : 'no items are'} too few to recognize pages`);
  const why = `no tested parameter changes the ${count} items`;
  if (total !== undefined && total > count) return undecided(`${why} of ${total}`);
  if (USUAL_SIZES.has(count)) return undecided(`${why}, which can be a full page`);
  return { pagination: { kind: 'none' }, why, doubts: ['whether the whole list is one page'] };
}

function undecided(why: string): PagingGuess {
  return { pagination: STRICTEST, isUnsafe: true, why, doubts: [HOW] };
}
