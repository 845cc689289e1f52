import type { Listing, PagingProposal, Parameter } from '../description/listing.ts';
import { expressionOf, plainName } from '../description/names.ts';
import type { Shape } from '../description/shape.ts';

/** Names of query parameters, as `plainName` has them, the surest first. */
export const PARAMETERS = {
  size: [
    ...['perpage', 'pagesize', 'limit', 'maxresults', 'pagelimit', 'size', 'count', 'top', 'rows', 'first', 'take'],
    ...['max', 'pagelength', 'length', 'num', 'n'],
  ],
  token: [
    ...['pagetoken', 'nextpagetoken', 'cursor', 'nexttoken', 'nextcursor', 'continuationtoken', 'continuation'],
    ...['pageafter', 'pagecursor', 'after', 'startingafter', 'marker', 'scrollid', 'next'],
  ],
  offset: ['offset', 'skip', 'startat', 'startindex', 'pageoffset', 'start', 'from'],
  page: ['page', 'pagenumber', 'pageindex', 'pageno', 'currentpage', 'pagenum', 'p'],
} as const;

/** Names of members of a body, likewise. */
export const MEMBERS = {
  token: [
    ...['nextpagetoken', 'nextcursor', 'nexttoken', 'continuationtoken', 'continuation', 'nextmarker', 'endcursor'],
    ...['nextpage', 'scrollid', 'after', 'cursor', 'next'],
  ],
  total: [
    'total',
    'totalcount',
    'totalitems',
    'totalelements',
    'totalresults',
    'totalrecords',
    'totalhits',
    'count',
  ].concat(['totalaffecteditems', 'totaldata', 'itemcount', 'recordcount']),
  link: ['next', 'nextlink', 'nexturl', 'nextpageurl', 'odatanextlink', 'nextpage', 'href'],
} as const;

export const TOTAL_HEADERS = ['x-total-count', 'x-total', 'total-count', 'x-pagination-total-count'];

/** What Portico asks for where the platform allows it. */
const SIZE = 100;
/** What any platform gives that takes a size. */
const CERTAIN_SIZE = 10;

/** Proposes paging as it was seen, or by the parameters of an operation and what its answer holds beside the items. */
export function proposePaging(listing: Listing): PagingProposal {
  return (
    listing.paging ?? byToken(listing) ?? byLink(listing) ?? byOffset(listing) ?? byPage(listing) ?? byNothing(listing)
  );
}

function parameterOf({ parameters }: Listing, kind: keyof typeof PARAMETERS): Parameter | undefined {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return PARAMETERS[kind].flatMap((name) => inQuery.filter((parameter) => plainName(parameter.name) === name))[0];
}

/** The parameter for the size and the size itself, as settings have them; null where none is documented. */
function sizeOf(listing: Listing): { sizeParam: string | null; size?: number } {
  const size = parameterOf(listing, 'size');
  if (size === undefined) return { sizeParam: null };
  const most = size.maximum === undefined || size.maximum < 1 ? SIZE : Math.min(size.maximum, SIZE);
  return { sizeParam: size.name, size: Math.floor(most) };
}

/** Members of the body outside its lists, the nearest to the top first, that have one of these names. */
export function memberOf(body: Shape, names: readonly string[], types: readonly Shape['type'][]): string | undefined {
  const all: { path: readonly string[]; shape: Shape }[] = [{ path: [], shape: body }];
  for (const { path, shape } of all) {
    if (path.length === 3) continue;
    for (const [key, member] of shape.members) all.push({ path: [...path, key], shape: member });
  }
  for (const name of names) {
    const found = all.find(({ path, shape }) => nameAt(path) === name && types.includes(shape.type));
    if (found !== undefined) return expressionOf(found.path);
  }
  return undefined;
}

/** The last key; of `next.href` it is `next` that tells what it is. */
function nameAt(path: readonly string[]): string {
  const last = plainName(path.at(-1) ?? '');
  return last === 'href' || last === 'url' ? plainName(path.at(-2) ?? '') : last;
}

function byToken(listing: Listing): PagingProposal | undefined {
  const parameter = parameterOf(listing, 'token');
  const next = memberOf(listing.body, MEMBERS.token, ['text', 'unknown']);
  if (parameter === undefined || next === undefined) return undefined;
  const pagination = { kind: 'token', tokenParam: parameter.name, next, ...sizeOf(listing) };
  return { pagination, why: `the body holds ${next}, which goes back as the parameter ${parameter.name}`, doubts: [] };
}

/** Links, unless a total lets pages be fetched several at once. */
function byLink(listing: Listing): PagingProposal | undefined {
  const counts = parameterOf(listing, 'offset') ?? parameterOf(listing, 'page');
  if (counts !== undefined && totalOf(listing) !== undefined) return undefined;
  if (listing.headers.has('link')) {
    return { pagination: { kind: 'link', ...sizeOf(listing) }, why: 'the answer has a Link header', doubts: [] };
  }
  const next = memberOf(listing.body, MEMBERS.link, ['text']);
  if (next === undefined) return undefined;
  const doubts = [`that ${next} holds the address of the next page, not a token`];
  return { pagination: { kind: 'link', next, ...sizeOf(listing) }, why: `the body holds ${next}`, doubts };
}

/** Where the total stands: in the body, or in a header. */
function totalOf({ body, headers }: Listing): { total: string } | { totalHeader: string } | undefined {
  const header = TOTAL_HEADERS.find((name) => headers.has(name));
  if (header !== undefined) return { totalHeader: header };
  const total = memberOf(body, MEMBERS.total, ['number']);
  return total === undefined ? undefined : { total };
}

function toldBy(total: ReturnType<typeof totalOf>): string {
  if (total === undefined) return 'nothing tells a total, so pages are fetched until one is empty';
  return `${'total' in total ? total.total : `the header ${total.totalHeader}`} tells how many items there are`;
}

function byOffset(listing: Listing): PagingProposal | undefined {
  const parameter = parameterOf(listing, 'offset');
  if (parameter === undefined || (!parameter.isNumber && parameterOf(listing, 'page') !== undefined)) return undefined;
  const total = totalOf(listing);
  const pagination = { kind: 'offset', offsetParam: parameter.name, ...sizeOf(listing), ...total };
  const first = parameter.minimum ?? Number(parameter.value ?? 0);
  // From 1 on, the first request would be for item 0, and what then comes differs from platform to platform.
  const doubts = first === 0 ? [] : [`${parameter.name} seems to count from ${first}, and Portico counts from 0`];
  const why = `the parameter ${parameter.name} says how many items to skip; ${toldBy(total)}`;
  return doubts.length > 0 ? { pagination: undefined, why, doubts } : { pagination, why, doubts };
}

function byPage(listing: Listing): PagingProposal | undefined {
  const parameter = parameterOf(listing, 'page');
  if (parameter === undefined) return undefined;
  const total = totalOf(listing);
  const known = firstPageIn(parameter, listing);
  // With a total, a read from 1 that leaves out page 0 is short of it and fails. Without one, either number may be wrong in
  // silence: some platforms give nothing for a page before their first.
  const firstPage = known ?? 1;
  const pagination = { kind: 'page', pageParam: parameter.name, firstPage, ...sizeOf(listing), ...total };
  const why = `the parameter ${parameter.name} is the number of the page; ${toldBy(total)}`;
  if (known !== undefined) return { pagination, why, doubts: [] };
  if (total !== undefined) return { pagination, why, doubts: ['that pages are counted from 1: nothing tells it'] };
  return { pagination: undefined, likely: pagination, why, doubts: ['whether pages are counted from 0 or from 1'] };
}

const FROM_ZERO = /\b(?:zero|0)[- ](?:based|indexed)|(?:start|begin|count)\w* (?:at|from|with) (?:0|zero)\b|\(0\.\./i;
const FROM_ONE =
  /\b(?:one|1)[- ](?:based|indexed)|(?:start|begin|count)\w* (?:at|from|with) (?:1|one)\b|default\w*:? 1\b/i;

/** The number of the first page, where the document tells it. */
function firstPageIn({ description, minimum, value }: Parameter, listing: Listing): 0 | 1 | undefined {
  if (minimum === 0 || value === '0' || FROM_ZERO.test(description)) return 0;
  if (minimum === 1 || value === '1' || FROM_ONE.test(description)) return 1;
  // Spring Data counts from 0, and its answers are known by this.
  return memberOf(listing.body, ['totalelements'], ['number']) === undefined ? undefined : 0;
}

function byNothing(listing: Listing): PagingProposal {
  const size = parameterOf(listing, 'size');
  const token = parameterOf(listing, 'token');
  const next = memberOf(listing.body, MEMBERS.token, ['text', 'number']);
  const total = totalOf(listing);
  if (size === undefined && token === undefined && next === undefined) {
    const why = 'no parameter and no member of the answer speaks of pages';
    return {
      pagination: { kind: 'none' },
      why,
      doubts: total === undefined ? [] : ['that the whole list is one page'],
    };
  }
  const seen = [size && `a parameter ${size.name}`, token && `a parameter ${token.name}`, next && `a member ${next}`];
  const why = `there is ${seen.filter(Boolean).join(' and ')}, and nothing that leads to the second page`;
  if (size === undefined) return { pagination: undefined, why, doubts: ['how the platform pages this list'] };
  // Not a short list, in any case: a page as long as was asked for, without a link to a next one, is an error. So no more
  // is asked for than the platform gives for certain, or the page that it cuts at would be taken for the whole.
  const doubts = ['how the platform pages this list: until then a full page without a Link header is an error'];
  const told = size.maximum ?? Number(size.value ?? CERTAIN_SIZE);
  const certain = Number.isInteger(told) && told >= 1 ? Math.min(told, SIZE) : CERTAIN_SIZE;
  return { pagination: { kind: 'link', sizeParam: size.name, size: certain }, why, doubts };
}
