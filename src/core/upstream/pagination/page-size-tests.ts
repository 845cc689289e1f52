import type { GatewayError } from '../../kernel/errors.ts';
import { COUNTS } from '../signs/signs.ts';
import type { Statement } from '../signs/statements.ts';
import { nextLink } from './by-next.ts';
import { failedTest, goesOn, isNone, type ListRequest, mayRepeat, type PageView } from './list-read.ts';
import { firstAddressOf, namesTotal, type PageAddress, pageAddress } from './page-address.ts';

/** A list whose pages have all arrived, without a sign of more. */
export interface ListEnd {
  readonly list: ListRequest;
  readonly first: PageView;
  readonly last: PageView;
  /** Items of all pages. */
  readonly items: number;
  /** Pages that have items. */
  readonly filled: number;
  /** Items of the last page that has some. */
  readonly tail: number;
  /** Digests of the documented ids of that page and of the one before it. */
  readonly tailIds: string;
}

/** One more request whose reply shows whether a list ends where it seems to. */
export interface EndTest {
  readonly address: PageAddress;
  /** Whether the list ends there. Compares counts and ids: items may have fields that change with each reply. */
  passes(reply: PageView): boolean | Promise<boolean>;
  /** The result if the platform refuses the request: it may not support the parameter, or the settings are wrong. */
  readonly refusal: 'passes' | 'fails';
  /** The error of a list that fails the test. `came`: what arrived instead of what is due. */
  failed(came: string, cause?: unknown): GatewayError;
}

/** Names of a page size in a query or a body that settings send. */
const SIZE_PARAMETERS =
  /^(?:limit|size|count|rows|top|\$top|take|first|(?:max|num|page)[_-]?(?:size|results|items)|(?:per|items[_-]?per)[_-]?page|page[_-]?limit)$/i;

/**
 * Tests a first page of exactly the requested size that does not say that it is the last. Some platforms leave out the link or
 * token then, and a total may count the items of the page. A page shorter by one must lead on or have the same total. Throws
 * if that cannot be requested and there is no total.
 */
export function shorterPage({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination, post } = list;
  const size = sizeAsked(list);
  if (last !== first || first.count !== size || first.next === '' || first.next === false) return undefined;
  if (first.said.some((each) => !isTotalInBody(each) && isEnd(size, each))) return undefined;
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  const isCounted = pagination.total !== undefined || saysEnd(first, size);
  const failed = () =>
    goesOn(
      'fullPage',
      `${size} items were asked for and came, and nothing says that they are all`,
      post === undefined || post.isRepeatable
        ? undefined
        : 'where the POST changes nothing, set retryPost: true, so that it may be sent once more as a test',
    );
  // Nothing is shorter than one: of two that are requested, one must be all.
  const address = addressOfSize(list, size === 1 ? 2 : size - 1);
  if (address === undefined || (pagination.kind === 'none' && !isCounted)) {
    if (isCounted) return undefined;
    throw failed();
  }
  const passes = (reply: PageView) => {
    if (size === 1) return reply.count <= 1;
    const leadsOn =
      (pagination.kind === 'token' && !isNone(reply.next)) ||
      (pagination.kind === 'link' && nextLink(reply, pagination) !== undefined);
    const totals = [Number(reply.total ?? 0), ...reply.said.filter(isTotalInBody).map(({ says }) => says)];
    return leadsOn || (reply.count < size && totals.includes(size));
  };
  return { address, passes, refusal: 'fails', failed };
}

/** Whether a page states that the list ends after `count` items, by a member that cannot be its own length. */
export function saysEnd({ said }: PageView, count: number): boolean {
  return said.some((each) => !COUNTS.includes(each.name) && isEnd(count, each));
}

/** Items per page that settings request; `undefined` if they leave that to the platform. */
export function sizeAsked(list: ListRequest): number | undefined {
  const { pagination, query, post } = list;
  if (pagination.kind !== 'none') return pagination.sizeParam === null ? undefined : pagination.size;
  const body: unknown = JSON.parse(post?.body?.({}) ?? 'null');
  const [, size] = [...Object.entries(query), ...membersOf(body)].find(isSize) ?? [];
  return size === undefined ? undefined : Number([size].flat()[0]);
}

/** The first page in another size; `undefined` if it may not be requested or settings have no parameter for its size. */
function addressOfSize(list: ListRequest, size: number): PageAddress | undefined {
  const { pagination, query } = list;
  if (!mayRepeat(list)) return undefined;
  if (pagination.kind !== 'none') return firstAddressOf(list, { ...pagination, size });
  const [name] = Object.entries(query).find(isSize) ?? [];
  return name === undefined ? undefined : pageAddress(list, { [name]: size });
}

function isSize([name]: readonly [string, unknown]): boolean {
  return SIZE_PARAMETERS.test(name);
}

/** All members of a body, at any depth. */
function membersOf(body: unknown): [string, unknown][] {
  if (typeof body !== 'object' || body === null) return [];
  const own = Object.entries(body);
  return [...(Array.isArray(body) ? [] : own), ...own.flatMap(([, value]) => membersOf(value))];
}

function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
}

/** Whether this statement says that no page follows one of `count` items. */
function isEnd(count: number, { sign, says }: Statement): boolean {
  switch (sign) {
    case 'total':
      return says === count;
    case 'pages':
      return says === 1;
    case 'more':
    case 'next':
      return says === false;
    case 'previous':
      return false;
  }
}

/** Usual names of the parameter for a page size. */
const USUAL_SIZES = [
  ...[
    'limit',
    '$limit',
    'per_page',
    'perPage',
    'page_size',
    'pageSize',
    'pagesize',
    'page[size]',
    'size',
    '$top',
    'top',
  ],
  ...['max_results', 'maxResults', 'max', 'first', 'count', 'rows', 'take'],
];
const SMALL_SIZE = 7;

/**
 * For `none`: a round number of items may be the default page size of a platform that pages. If so, a small size returns
 * fewer items; if not, it ignores or refuses the parameters.
 */
export function usualSizes({ list, first: { count }, first }: ListEnd): EndTest | undefined {
  const { pagination, query, post } = list;
  if (pagination.kind !== 'none' || post !== undefined) return undefined;
  // A total in the body may be the length of the page.
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  if (count < 20 || count % 10 !== 0 || saysEnd(first, count)) return undefined;
  const unsent = USUAL_SIZES.filter((name) => !(name in query));
  return {
    address: pageAddress(list, Object.fromEntries(unsent.map((name) => [name, SMALL_SIZE]))),
    passes: (reply) => reply.count === count,
    refusal: 'passes',
    failed: (came) =>
      failedTest(
        `${count} items came, and of the same list ${came} where the usual parameters for a page size are ${SMALL_SIZE}: it follows one of them, so it is paged`,
        'set pagination.kind and its keys to how the platform pages',
      ),
  };
}
