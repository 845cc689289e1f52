import { GatewayError } from '../../kernel/errors.ts';
import type { Statement } from '../hints/statements.ts';
import { nextLink } from './by-next.ts';
import {
  failedTest,
  goesOn,
  inSteps,
  isNone,
  isSize,
  type ListRead,
  type ListRequest,
  mayRepeat,
  type PageView,
  sizeAsked,
  statesTotal,
} from './list-read.ts';
import {
  firstAddressOf,
  namesTotal,
  numberParameters,
  offsetParameters,
  type PageAddress,
  pageAddress,
  sizeParameter,
} from './page-address.ts';

/** What the pages of a read have shown so far. */
export interface Progress {
  items: number;
  /** Pages up to the last one that has items. */
  pages: number;
  filled: number;
  tail: number;
  /** Digests of the ids of that page and of the one before it. */
  tailIds: string;
  /** The smallest that a page has stated. */
  readonly least: { total?: Statement; pages?: Statement };
  last: PageView;
}

type ListEnd = Pick<ListRead<PageView>, 'list' | 'first'> & Readonly<Progress>;

/** One more request, which shows whether a list ends where it seems to. */
interface EndTest {
  readonly address: PageAddress;
  /** Compares counts and ids: items may have fields that change with each reply. */
  passes(reply: PageView): boolean | Promise<boolean>;
  /** Result if the platform refuses the request: it may not support the parameter, or the settings are wrong. */
  readonly refusal: 'passes' | 'fails';
  /** Creates the error. `outcome`: of the request, as a verb phrase. */
  failed(outcome: string, cause?: unknown): GatewayError;
}

type Design = (end: ListEnd) => EndTest | undefined;

/** A list gets the first test of each row that applies to it. */
const TESTS: readonly (readonly Design[])[] = [
  [shorterPage, usualSizes, behindTotal, lastByOffset, secondByNumber],
  [firstByNumber, lastOfTotal],
];

/** A platform that does not accept the requested size or place. */
const REFUSED: readonly unknown[] = [400, 404, 414, 422];

/** Throws `upstream_invalid` if one more request shows that a list does not begin or end where it seems to. */
export async function testEnd({ test, signal }: Pick<ListRead<PageView>, 'test' | 'signal'>, end: ListEnd) {
  for (const designs of mayRepeat(end.list) ? TESTS : [[shorterPage]]) {
    const endTest = designs
      .values()
      .map((design) => design(end))
      .find((each) => each !== undefined);
    if (endTest === undefined) continue;
    const reply = await test(endTest.address, signal).catch((cause: unknown) => {
      if (!(cause instanceof GatewayError && REFUSED.includes(cause.upstreamStatus))) throw cause;
      if (endTest.refusal === 'fails') throw endTest.failed('was refused', cause);
      return undefined;
    });
    if (reply !== undefined && !(await endTest.passes(reply))) throw endTest.failed(`returned ${reply.count}`);
  }
}

/**
 * Tests a first page of exactly the requested size that does not say that it is the last: some platforms leave out the link or
 * token then, and a total may count the items of the page. A page shorter by one must lead on or have the same total.
 */
function shorterPage({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination } = list;
  const size = sizeAsked(list);
  if (last !== first || first.count !== size || first.next === '' || first.next === false) return undefined;
  if (first.statements.some((each) => !isTotalInBody(each) && isEnd(size, each))) return undefined;
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  const isCounted = pagination.total !== undefined || statesEnd(first, size);
  const failed = () =>
    goesOn(
      'fullPage',
      `${size} items were requested and received, and nothing shows that they are all`,
      mayRepeat(list)
        ? undefined
        : 'if the POST changes nothing, set retryPost: true, which allows one more request as a test',
    );
  const address = addressOfSize(list, size - 1);
  if (address === undefined || (pagination.kind === 'none' && !isCounted)) {
    if (isCounted) return undefined;
    throw failed();
  }
  const passes = (reply: PageView) => {
    const leadsOn =
      (pagination.kind === 'token' && !isNone(reply.next)) ||
      (pagination.kind === 'link' && nextLink(reply, pagination) !== undefined);
    const totals = [Number(reply.total ?? 0), ...reply.statements.filter(isTotalInBody).map(({ stated }) => stated)];
    return leadsOn || (reply.count < size && totals.includes(size));
  };
  return { address, passes, refusal: 'fails', failed };
}

const USUAL_SIZES = [
  ...['limit', '$limit', 'per_page', 'perPage', 'page_size', 'pageSize', 'pagesize', 'page[size]', 'size', '$top'],
  ...['top', 'max_results', 'maxResults', 'max', 'first', 'count', 'rows', 'take'],
];
const SMALL_SIZE = 7;

/** Tests `none`: a round number of items may be a default page size; then a small size returns fewer. */
function usualSizes({ list, first: { count }, first }: ListEnd): EndTest | undefined {
  const { pagination, query, post } = list;
  if (pagination.kind !== 'none' || post !== undefined) return undefined;
  // A total in the body may be the length of the page.
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  if (count < 20 || count % 10 !== 0 || statesEnd(first, count)) return undefined;
  const unsent = USUAL_SIZES.filter((name) => !(name in query));
  return {
    address: pageAddress(list, Object.fromEntries(unsent.map((name) => [name, SMALL_SIZE]))),
    passes: (reply) => reply.count === count,
    refusal: 'passes',
    failed: (outcome) =>
      failedTest(
        `the list has ${count} items, but a request with a page size of ${SMALL_SIZE} under the usual names ${outcome}, so the list is paged`,
        'set pagination.kind and its keys to the pagination of the platform',
      ),
  };
}

/** Tests `offset` and `page`: a total of unknown name may count the items of a page. Nothing may follow that page. */
function behindTotal({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination } = list;
  const { count, total } = first;
  if ((pagination.kind !== 'offset' && pagination.kind !== 'page') || last !== first) return undefined;
  if (count === 0 || Number(total) !== count || statesEnd(first, count)) return undefined;
  const place = pagination.kind === 'offset' ? offsetParameters(pagination, count) : numberParameters(pagination, 1);
  return {
    address: pageAddress(list, place),
    passes: (reply) => reply.count === 0,
    refusal: 'passes',
    failed: (outcome) =>
      failedTest(
        `the total is ${count}, the length of the first page, but a request for the items after it ${outcome}: the total is that of the page`,
        'set pagination.total to the number of all items in the reply, or remove it',
      ),
  };
}

/**
 * Tests `offset` without a total: a platform that takes the offset for a page number also ends with an empty page. The offset
 * of the last item, or of the last two if the last was a page by itself, must return no others.
 */
function lastByOffset(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled, tail, tailIds } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || !isOpen(end) || first.count < 2) return undefined;
  if (filled === 1 && statesEnd(first, items)) return undefined;
  const due = tail === 1 ? 2 : 1;
  const place = items - due;
  return {
    address: pageAddress(list, offsetParameters(pagination, place)),
    passes: async (reply) => reply.count === due && (await hasOnlyIds(tailIds, reply)),
    refusal: 'fails',
    failed: (outcome, cause) =>
      failedTest(
        `an empty page follows ${items} items, but a request for the last ${due}, at offset ${place}, ${outcome}`,
        'set pagination.kind and pagination.offsetParam to the pagination of the platform, or pagination.total to the total in the reply',
        cause,
      ),
  };
}

/** The same if settings name a total that may count the items of the page. */
function lastOfTotal(end: ListEnd): EndTest | undefined {
  const endTest = namesTotal(end.list.pagination) ? lastByOffset(end) : undefined;
  return endTest && { ...endTest, refusal: 'passes' };
}

/** Tests `page` without a total: after a full page and an empty one, pages shorter by one have a second page, of one item. */
function secondByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled } = end;
  const { pagination } = list;
  if (pagination.kind !== 'page' || !isOpen(end)) return undefined;
  // In pages of two, the second item is the second page whichever number is first.
  if (filled !== 1 || first.count !== sizeAsked(list) || items < 3) return undefined;
  const size = items - 1;
  return {
    address: pageAddress(list, numberParameters({ ...pagination, size }, 1)),
    passes: (reply) => reply.count === 1,
    refusal: 'fails',
    failed: (outcome, cause) =>
      failedTest(
        `an empty page follows a full one of ${items} items, but a request for page ${pagination.firstPage + 1} in pages of ${size}, with 1 item, ${outcome}`,
        'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to the pagination of the platform, or pagination.total to the total in the reply',
        cause,
      ),
  };
}

/**
 * Tests `page` without a total, and an empty list: a platform that counts pages from 0 has one before number 1, and may reply
 * to an unknown number with no items. The first page without that parameter must return no others.
 */
function firstByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items } = end;
  const { pagination } = list;
  if ((pagination.kind !== 'offset' && pagination.kind !== 'page') || !isOpen(end)) return undefined;
  const isPage = pagination.kind === 'page';
  if (items > 0 && !(isPage && pagination.firstPage > 0)) return undefined;
  const asked = isPage ? `${pagination.pageParam}=${pagination.firstPage}` : `${pagination.offsetParam}=0`;
  const keys = isPage ? 'pagination.pageParam, pagination.firstPage' : 'pagination.offsetParam';
  return {
    address: pageAddress(list, sizeParameter(pagination)),
    passes: (reply) => (items === 0 ? reply.count === 0 : hasOnlyIds(first.ids ?? '', reply)),
    refusal: 'passes',
    failed: (outcome) =>
      failedTest(
        `the list has ${items} items, but a request for the first page without ${asked} ${outcome}, others among them`,
        `set ${keys} and pagination.kind to the pagination of the platform, or pagination.total to the total in the reply`,
      ),
  };
}

/** Whether no total is known, but one that may count the items of the only page. */
function isOpen(end: ListEnd): boolean {
  const { list, first, last, items } = end;
  const { pagination } = list;
  if (statesTotal(first, items)) return false;
  if (!namesTotal(pagination)) return true;
  const mayCountPage = pagination.total !== undefined && last === first && Number(first.total) === first.count;
  return mayCountPage && !statesEnd(first, first.count) && shorterPage(end) === undefined;
}

async function hasOnlyIds(ids: string, reply: PageView): Promise<boolean> {
  const known = new Set<string>();
  for await (const some of inSteps(ids)) for (const id of some) known.add(id);
  for await (const some of inSteps(reply.ids ?? '')) if (some.some((id) => !known.has(id))) return false;
  return true;
}

/** Returns `undefined` if settings have no parameter for the size, or it may not be requested. */
function addressOfSize(list: ListRequest, size: number): PageAddress | undefined {
  const { pagination, query } = list;
  if (!mayRepeat(list)) return undefined;
  if (pagination.kind !== 'none') return firstAddressOf(list, { ...pagination, size });
  const [name] = Object.entries(query).find(isSize) ?? [];
  return name === undefined ? undefined : pageAddress(list, { [name]: size });
}

function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
}

/** Whether a member that cannot be the length of the page states that the list ends. */
function statesEnd({ statements }: PageView, count: number): boolean {
  return statements.some((each) => !each.isCount && !each.isSize && isEnd(count, each));
}

function isEnd(count: number, { sign, stated }: Statement): boolean {
  if (sign === 'total') return stated === count;
  if (sign === 'pages') return stated === 1;
  return sign !== 'previous' && stated === false;
}
