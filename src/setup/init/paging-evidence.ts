import { plainName } from '../../core/kernel/json-shape.ts';
import { meaningOfHeader, meaningOfMember } from '../../core/upstream/hints/words.ts';
import type { DocumentedOperation, Parameter } from './openapi-document.ts';
import { expressionOf, type Member, membersOf, type Shape } from './shape.ts';
import { wordsOf } from './vocabulary.ts';

/** The setting `pagination`, as a file holds it. */
type Pagination = { readonly kind: string } & Readonly<Record<string, string | number | null>>;

export interface PagingEvidence {
  /** What the document says about pages, in words. */
  readonly seen: readonly string[];
  /** Settings, where the document leaves no other reading. */
  readonly pagination: Pagination | undefined;
}

const ROLES = {
  size: 'limit perpage pagesize size maxresults top count pagelimit rows take max itemsperpage resultsperpage',
  token:
    'pagetoken cursor nexttoken after continue continuationtoken marker nextpagetoken nextcursor continuation pagecursor startingafter',
  offset: 'offset skip start startat from startindex pageoffset',
  page: 'page pagenumber pageindex pageno p currentpage',
} as const;

/** Parameters that concern pages, whatever they do. */
const PAGE_WORDS = /page|paging|pagination|offset|limit|cursor|skip|range|marker|continu|\bfirst\b|\blast\b/i;
const TOKEN_WORDS = /token|cursor|marker|continu(?:e|ation)/i;
const LINK_WORDS = /ur[il]\b|link|href/i;
const MAX_SIZE = 100;

function roleOf({ name, isFlag }: Parameter): string {
  const plain = plainName(name.split('.').at(-1) ?? '');
  const role = Object.entries(ROLES).find(([, names]) => !isFlag && names.split(' ').includes(plain));
  return role?.[0] ?? (PAGE_WORDS.test(name) ? 'other' : '');
}

/** Reads what an operation says about its pages. Chooses nothing that could be read in two ways. */
export function readPaging({ body, headers, parameters }: DocumentedOperation): PagingEvidence {
  const { '': _, ...byRole } = Object.groupBy(parameters, roleOf);
  const { size: sizes = [], token: tokens = [], offset = [], page = [], other = [] } = byRole;
  const next = findMember(body, 'next');
  // Some platforms count only when asked to: their total is absent, 0 or -1 otherwise.
  const requested = parameters.filter(
    ({ name, isFlag }) => isFlag && (/total/i.test(name) || wordsOf(name).includes('count')),
  );
  const total = findTotal(headers, requested.length > 0 ? undefined : findMember(body, 'total'));
  const size = sizeSetting(sizes);

  function readings(): (Pagination | undefined)[] {
    // A Link header is a standard (RFC 8288), whatever parameters its addresses use.
    if (headers.has('link')) return [{ kind: 'link', ...size }];
    // A number is that of a page.
    if (next !== undefined && next.shape.type !== 'number') {
      const [at, name] = [expressionOf(next.path), next.path.join(' ')];
      const [isLink, isToken] = [next.shape.isUri || LINK_WORDS.test(name), TOKEN_WORDS.test(name)];
      if (isLink === isToken || next.shape.type === 'object') return [];
      if (isLink) return [{ kind: 'link', ...size, next: at }];
      return tokens.map((token) => ({ kind: 'token', ...size, tokenParam: token.name, next: at }));
    }
    return [
      ...offset.map(({ name, minimum, default: first = 0 }) => {
        return (minimum ?? first) === 0 ? { kind: 'offset', ...size, offsetParam: name, ...total } : undefined;
      }),
      ...page.map(({ name, ...parameter }) => {
        const first = [parameter.minimum, parameter.default].find((each) => each === 0 || each === 1);
        // With a total, a wrong number of the first page is an error at the first read.
        if (first === undefined && total === undefined) return undefined;
        return { kind: 'page', ...size, pageParam: name, firstPage: first ?? 1, ...total };
      }),
    ];
  }

  const concerned = Object.values(byRole).flatMap((each = []) => each.map(({ name }) => name));
  const isSilent = concerned.length === 0 && next === undefined && total === undefined;
  const [pagination, ...others] = isSilent && !headers.has('link') ? [{ kind: 'none' }] : readings();
  return {
    pagination: others.length === 0 && other.length === 0 ? pagination : undefined,
    seen: [
      concerned.length === 0 ? 'no parameter concerns pages' : `parameters ${concerned.join(', ')}`,
      ...(headers.has('link') ? ['a Link header'] : []),
      ...(next === undefined ? [] : [`${expressionOf(next.path)} in the reply`]),
      ...(total === undefined ? [] : [`a total: ${Object.values(total)}`]),
      ...requested.map(({ name }) => `a total must be requested with ${name}`),
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
  const found = membersOf(body).filter(({ path, shape }) => {
    const last = path.at(-1) ?? '';
    // Of `links.next.href` it is `next`.
    const { meanings } = meaningOfMember(/^(?:href|ur[il]|value)$/i.test(last) ? (path.at(-2) ?? '') : last);
    return shape.type !== 'list' && meanings.some((meaning) => meaning.sign === sign && meaning.isCount !== true);
  });
  const scalars = found.filter(({ shape }) => shape.type !== 'object');
  return scalars.find(({ path }) => LINK_WORDS.test(path.at(-1) ?? '')) ?? scalars[0] ?? found[0];
}

function findTotal(
  headers: DocumentedOperation['headers'],
  member: Member | undefined,
): { readonly totalHeader: string } | { readonly total: string } | undefined {
  const totalHeader = [...headers].find((name) =>
    meaningOfHeader(name).meanings.some(({ sign, isCount, isSize }) => sign === 'total' && !isCount && !isSize),
  );
  if (totalHeader !== undefined) return { totalHeader };
  return member && { total: expressionOf(member.path) };
}
