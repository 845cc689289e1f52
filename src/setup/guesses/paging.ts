import type { Listing, PagingProposal, Parameter } from '../description/listing.ts';
import { expressionOf, plainName } from '../description/names.ts';
import type { Shape } from '../description/shape.ts';

/** Names of query parameters, as `plainName` has them, the surest first. */
export const PARAMETERS = {
  size: [
    ...['perpage', 'pagesize', 'limit', 'maxresults', 'pagelimit', 'size', 'count', 'top', 'rows', 'first', 'take'],
    ...['max', 'pagelength', 'pagelen', 'length', 'num', 'n', 'resultsperpage', 'itemsperpage', 'maxitems'],
    ...['maxrecords', 'maxcount', 'batchsize'],
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
  // A total that follows filters is the length of the list; the other one may count more.
  total: ['filtercount', 'filteredcount', 'filteredtotal', 'totalfiltered', 'recordsfiltered'].concat([
    'total',
    'totalcount',
    'totalitems',
    'totalelements',
    'totalresults',
    'totalrecords',
    'totalhits',
    ...['count', 'totalaffecteditems', 'totaldata', 'itemcount', 'recordcount'],
  ]),
  link: ['next', 'nextlink', 'nexturl', 'nextpageurl', 'odatanextlink', 'nextpage', 'href'],
} as const;

export const TOTAL_HEADERS = ['x-total-count', 'x-total', 'total-count', 'x-pagination-total-count'];

/** What Portico asks for where the platform allows it. */
const SIZE = 100;
/** What any platform gives that takes a size. */
const CERTAIN_SIZE = 10;

/** Proposes paging as it was seen, or by the parameters of an operation and what its answer holds beside the items. */
export function proposePaging(listing: Listing, listings: readonly Listing[] = []): PagingProposal {
  if (listing.paging !== undefined) return listing.paging;
  const total = totalOf(listing);
  const query = total === undefined ? undefined : totalRequest(listing, total);
  const proposal =
    byToken(listing) ?? byLink(listing) ?? byOffset(listing) ?? byPage(listing) ?? borrowed(listing, listings);
  return { ...(query !== undefined && { query }), ...(proposal ?? byNothing(listing)) };
}

/**
 * Pages as another list of the document does that has its total at the same place, for a list that has a total and is
 * described without parameters.
 */
function borrowed(listing: Listing, listings: readonly Listing[]): PagingProposal | undefined {
  const total = JSON.stringify(totalOf(listing));
  if (total === undefined || listing.parameters.some((each) => each.in === 'query')) return undefined;
  const lender = listings.find((each) => {
    const counts = parameterOf(each, 'offset') ?? parameterOf(each, 'page');
    return each !== listing && counts !== undefined && JSON.stringify(totalOf(each)) === total;
  });
  if (lender === undefined) return undefined;
  const proposal = proposePaging({ ...listing, parameters: lender.parameters.filter((each) => !each.required) });
  const doubt = `that this list is paged as ${lender.path} is: the document names no parameters of its own`;
  return { ...proposal, doubts: [doubt, ...proposal.doubts] };
}

function parameterOf({ parameters }: Listing, kind: keyof typeof PARAMETERS): Parameter | undefined {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query' && !parameter.isFlag);
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

type Total = { readonly total: string } | { readonly totalHeader: string };

/** Where the total stands: in the body, or in a header. */
function totalOf({ body, headers }: Listing): Total | undefined {
  const header = TOTAL_HEADERS.find((name) => headers.has(name));
  if (header !== undefined) return { totalHeader: header };
  // What is a list or an object, as parameters say, is a list unless it is asked for the other form.
  const total = body.type === 'list' ? undefined : memberOf(body, MEMBERS.total, ['number', 'unknown']);
  return total === undefined ? undefined : { total };
}

/** Query parameters that are true or false and ask for a total, as `plainName` has them. */
const TOTAL_FLAGS =
  /^(?:(?:include|with|show|return|get|need|calculate)(?:a|the)?(?:total|count)s?\w*|count|totalcount|total)$/;

/** The query that has the platform send its total, where a parameter of the operation asks for that. */
function totalRequest({ parameters }: Listing, total: Total): Record<string, string> | undefined {
  const found = parameters.find(
    (each) => each.in === 'query' && each.isFlag && each.value !== 'true' && TOTAL_FLAGS.test(plainName(each.name)),
  );
  if (found !== undefined) return { [found.name]: 'true' };
  const meta = parameters.find((each) => each.in === 'query' && each.name === 'meta');
  return meta !== undefined && 'total' in total && total.total.startsWith('meta.') ? { meta: '*' } : undefined;
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

/** What a resource that is switched off begins with: it fails wherever a sign says that there is more. */
const SILENT = { kind: 'link', sizeParam: null } as const;

/** Words of parameters that speak of pages, whatever they are called otherwise. */
const OF_PAGES = /page|paging|pagination|offset|limit|cursor|skip|per_?page/i;

function byNothing(listing: Listing): PagingProposal {
  const other = listing.parameters.find((each) => each.in === 'query' && OF_PAGES.test(each.name));
  const size = parameterOf(listing, 'size');
  const token = parameterOf(listing, 'token');
  const next = memberOf(listing.body, MEMBERS.token, ['text', 'number']);
  const total = totalOf(listing);
  if (size === undefined && token === undefined && next === undefined) {
    if (total !== undefined) {
      const doubts = ['how the platform pages this list: until then fewer items than the total are an error'];
      const why = `${toldBy(total)}, and nothing leads to a second page`;
      return { pagination: { kind: 'link', sizeParam: null, ...total }, why, doubts };
    }
    if (other !== undefined) {
      const why = `the parameter ${other.name} seems to speak of pages`;
      return { pagination: undefined, likely: SILENT, why, doubts: ['how the platform pages this list'] };
    }
    return {
      pagination: { kind: 'none' },
      why: 'no parameter and no member of the answer speaks of pages',
      doubts: [],
    };
  }
  const seen = [size && `a parameter ${size.name}`, token && `a parameter ${token.name}`, next && `a member ${next}`];
  const why = `there is ${seen.filter(Boolean).join(' and ')}, and nothing that leads to the second page`;
  if (size === undefined) {
    return { pagination: undefined, likely: SILENT, why, doubts: ['how the platform pages this list'] };
  }
  // Not a short list, in any case: a page as long as was asked for, without a link to a next one, is an error. So no more
  // is asked for than the platform gives for certain, or the page that it cuts at would be taken for the whole.
  const doubts = ['how the platform pages this list: until then a full page without a Link header is an error'];
  const told = size.maximum ?? Number(size.value ?? CERTAIN_SIZE);
  const certain = Number.isInteger(told) && told >= 1 ? Math.min(told, SIZE) : CERTAIN_SIZE;
  return { pagination: { kind: 'link', sizeParam: size.name, size: certain, ...total }, why, doubts };
}
