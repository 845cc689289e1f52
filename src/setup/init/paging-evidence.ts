import { meaningOfHeader, meaningOfMember } from '../../core/upstream/hints/words.ts';
import type { Operation, Parameter } from './openapi-document.ts';
import { expressionOf, type Member, membersOf, plainName, type Shape } from './shape.ts';

/** The setting `pagination`, as a file holds it. */
type Pagination = { readonly kind: string } & Readonly<Record<string, string | number | null>>;

export interface PagingEvidence {
  /** What the document says about pages, in words. */
  readonly seen: readonly string[];
  /** Settings that fit it, the surest first. */
  readonly choices: readonly Pagination[];
  /** Whether the document leaves no other reading than the first. */
  readonly isClear: boolean;
}

const PARAMETERS = {
  size: 'limit perpage pagesize size maxresults top count pagelimit rows take max itemsperpage resultsperpage',
  token:
    'pagetoken cursor nexttoken after continue continuationtoken marker nextpagetoken nextcursor continuation pagecursor startingafter',
  offset: 'offset skip start startat from startindex pageoffset',
  page: 'page pagenumber pageindex pageno p currentpage',
} as const;

/** Parameters that concern pages, whatever they do. */
const PAGE_WORDS = /page|paging|pagination|offset|limit|cursor|skip|range|marker|continu|\bfirst\b|\blast\b/i;
const TOKEN_WORDS = /token|cursor|marker|continu(?:e|ation)/i;
const LINK_WORDS = /ur[il]\b|link|href|https?:/i;
const TOTAL_WORDS = /total|(?:^|_)count(?:$|_)|[a-z]Count\b/i;
const MAX_SIZE = 100;

/** Reads what an operation says about its pages. Chooses nothing that could be read in two ways. */
export function readPaging(operation: Operation): PagingEvidence {
  const { body, headers, parameters } = operation;
  const of = (role: keyof typeof PARAMETERS) => {
    const names = PARAMETERS[role].split(' ');
    return parameters.filter(({ name, isFlag }) => !isFlag && names.includes(plainName(name.split('.').at(-1))));
  };
  const [sizes, tokens, offsets, pages] = [of('size'), of('token'), of('offset'), of('page')];
  const named = findMember(body, 'next');
  // A number is that of a page.
  const next = named?.shape.type === 'number' ? undefined : named;
  const total = findTotal(operation);
  const others = parameters.filter(
    ({ name }) => PAGE_WORDS.test(name) && ![sizes, tokens, offsets, pages].flat().some((each) => each.name === name),
  );
  const size = sizeSetting(sizes);
  const readings: { readonly pagination: Pagination; readonly isSure: boolean }[] = [];
  const add = (pagination: Pagination, isSure: boolean) => readings.push({ pagination, isSure });

  if (headers.has('link')) add({ kind: 'link', ...size }, true);
  if (next !== undefined) {
    const reading = linkOrToken(next);
    const at = expressionOf(next.path);
    const [token] = tokens;
    if (reading !== 'token') add({ kind: 'link', ...size, next: at }, reading === 'link');
    if (reading !== 'link' && token !== undefined) {
      add({ kind: 'token', ...size, tokenParam: token.name, next: at }, reading === 'token' && tokens.length === 1);
    }
  }
  if (readings.length === 0) {
    for (const { name, minimum, value } of offsets) {
      add({ kind: 'offset', ...size, offsetParam: name, ...total?.setting }, (minimum ?? Number(value ?? 0)) === 0);
    }
    for (const parameter of pages) {
      const first = firstPageOf(parameter);
      const firstPage = first ?? 1;
      // With a total, a wrong number of the first page is an error at the first read.
      const isSure = first !== undefined || total !== undefined;
      add({ kind: 'page', ...size, pageParam: parameter.name, firstPage, ...total?.setting }, isSure);
    }
  }
  const isSilent = [sizes, tokens, offsets, pages, others].every(({ length }) => length === 0) && named === undefined;
  if (readings.length === 0 && isSilent && total === undefined) add({ kind: 'none' }, true);
  const concerned = [...sizes, ...tokens, ...offsets, ...pages, ...others].map(({ name }) => name);
  return {
    choices: readings.map(({ pagination }) => pagination),
    // A Link header is a standard (RFC 8288), whatever parameters its addresses use.
    isClear: readings[0]?.isSure === true && (readings.length === 1 || headers.has('link')) && others.length === 0,
    seen: [
      concerned.length === 0 ? 'no parameter concerns pages' : `parameters ${concerned.join(', ')}`,
      ...(headers.has('link') ? ['a Link header'] : []),
      ...(named === undefined ? [] : [`${expressionOf(named.path)} in the reply`]),
      ...(total === undefined ? [] : [total.seen]),
      ...requestedTotals(parameters),
    ],
  };
}

function sizeSetting([first, ...more]: readonly Parameter[]): { sizeParam: string | null; size?: number } {
  if (first === undefined || more.length > 0) return { sizeParam: null };
  const { name, maximum } = first;
  return { sizeParam: name, ...(maximum !== undefined && maximum >= 2 && { size: Math.min(maximum, MAX_SIZE) }) };
}

/** A count is the length of one page as often as it is the total. */
function findMember(body: Shape, sign: 'next' | 'total'): Member | undefined {
  return membersOf(body).find(({ path, shape }) => {
    const { meanings } = meaningOfMember(nameOf(path));
    return shape.type !== 'list' && meanings.some((meaning) => meaning.sign === sign && meaning.isCount !== true);
  });
}

/** The last key; of `links.next.href` it is `next`. */
function nameOf(path: readonly string[]): string {
  const last = path.at(-1) ?? '';
  return /^(?:href|url|value)$/i.test(last) ? (path.at(-2) ?? '') : last;
}

/** Whether the next page is named by a link or a token; `undefined` where the document does not say so. */
function linkOrToken({ path, shape }: Member): 'link' | 'token' | undefined {
  const name = path.join(' ');
  const isLink = LINK_WORDS.test(`${name} ${shape.hint}`);
  const isToken = TOKEN_WORDS.test(name);
  if (isLink === isToken) return undefined;
  return isLink ? 'link' : 'token';
}

function findTotal({ body, headers, parameters }: Operation) {
  const header = [...headers].find((name) =>
    meaningOfHeader(name).meanings.some(({ sign, isCount, isSize }) => sign === 'total' && !isCount && !isSize),
  );
  if (header !== undefined) return { setting: { totalHeader: header }, seen: `the header ${header}` };
  const found = findMember(body, 'total');
  if (found === undefined || requestedTotals(parameters).length > 0) return undefined;
  const total = expressionOf(found.path);
  return { setting: { total }, seen: `${total} in the reply` };
}

/** Some platforms count only when asked to: their total is absent, 0 or -1 otherwise. */
function requestedTotals(parameters: readonly Parameter[]): string[] {
  return parameters
    .filter(({ name, isFlag }) => isFlag && TOTAL_WORDS.test(name))
    .map(({ name }) => `a total must be requested with ${name}`);
}

function firstPageOf({ minimum, value }: Parameter): 0 | 1 | undefined {
  if (minimum === 0 || value === '0') return 0;
  return minimum === 1 || value === '1' ? 1 : undefined;
}
