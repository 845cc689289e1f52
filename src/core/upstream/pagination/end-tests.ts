import { GatewayError } from '../../kernel/errors.ts';
import { inSteps } from './digests.ts';
import { failedTest, type ListRead, mayRepeat, type PageView, saysTotal } from './list-read.ts';
import { firstAddressOf, namesTotal, offsetParameters, pageAddress, sizeParameter } from './page-address.ts';
import { type EndTest, type ListEnd, saysEnd, shorterPage, sizeAsked, usualSizes } from './page-size-tests.ts';

/** Statuses of a platform that does not accept the requested size or place. */
const REFUSED: readonly unknown[] = [400, 404, 414, 422];

type Design = (end: ListEnd) => EndTest | undefined;

/** Tests of the end, and of the place that settings name: a list gets the first of each that applies to it. */
const TESTS: readonly (readonly Design[])[] = [
  [shorterPage, usualSizes, behindTotal, lastByOffset, twoByOffset, secondByNumber],
  [firstByNumber, lastOfTotal],
];

/** Throws `upstream_invalid` if one more request shows that a list does not begin or end where it seems to. */
export async function testEnd({ test, signal }: Pick<ListRead<PageView>, 'test' | 'signal'>, end: ListEnd) {
  for (const designs of TESTS) {
    const endTest = designs.map((design) => design(end)).find((each) => each !== undefined);
    if (endTest === undefined) continue;
    const reply = await test(endTest.address, signal).catch((cause: unknown) => {
      if (!(cause instanceof GatewayError && REFUSED.includes(cause.upstreamStatus))) throw cause;
      if (endTest.refusal === 'fails') throw endTest.failed('the platform refuses it', cause);
      return undefined;
    });
    if (reply !== undefined && !(await endTest.passes(reply))) throw endTest.failed(`${reply.count} came`);
  }
}

/**
 * For `offset` without a total: a platform that takes the offset for the number of a page also ends the list with an empty
 * page. The offset of the last item, or of the last two if the last was a page by itself, must return no others.
 */
function lastByOffset(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled, tail, tailIds } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || !isOpen(end) || first.count < 2 || !mayRepeat(list)) return undefined;
  if (saysTotal(first, items) || (filled === 1 && saysEnd(first, items))) return undefined;
  const due = tail === 1 ? 2 : 1;
  const place = items - due;
  return {
    address: pageAddress(list, offsetParameters(pagination, place)),
    passes: async (reply) => reply.count === due && (await bringsOnly(tailIds, reply)),
    refusal: 'fails',
    failed: (came, cause) =>
      failedTest(
        `an empty page follows ${items} items, but of the offset ${place}, where the last ${due} are due, ${came}`,
        'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.total to where it says the total',
        cause,
      ),
  };
}

/** The same if settings name a total that may count the items of the page. */
function lastOfTotal(end: ListEnd): EndTest | undefined {
  const endTest = namesTotal(end.list.pagination) ? lastByOffset(end) : undefined;
  return endTest && { ...endTest, refusal: 'passes' };
}

/** For `offset` in pages of one item: if one is all, no second one comes when two are requested. */
function twoByOffset(end: ListEnd): EndTest | undefined {
  const { list, first, items } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || !isOpen(end) || !mayRepeat(list)) return undefined;
  if (items !== 1 || sizeAsked(list) !== 1 || saysTotal(first, items)) return undefined;
  return {
    address: firstAddressOf(list, { ...pagination, size: 2 }),
    passes: (reply) => reply.count === 1,
    refusal: 'fails',
    failed: (came, cause) =>
      failedTest(
        `an empty page follows 1 item, but where 2 are asked for, ${came}`,
        'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.size to more than 1',
        cause,
      ),
  };
}

/** For `page` without a total: after a full page and an empty one, pages shorter by one have a second page, of one item. */
function secondByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled } = end;
  const { pagination } = list;
  if (pagination.kind !== 'page' || !isOpen(end) || !mayRepeat(list) || saysTotal(first, items)) return undefined;
  // In pages of two, the second item is the second page whichever number is first.
  if (filled !== 1 || first.count !== sizeAsked(list) || items < 3) return undefined;
  const size = items - 1;
  const page = pagination.firstPage + 1;
  return {
    address: pageAddress(list, { ...sizeParameter({ ...pagination, size }), [pagination.pageParam]: page }),
    passes: (reply) => reply.count === 1,
    refusal: 'fails',
    failed: (came, cause) =>
      failedTest(
        `an empty page follows a full one of ${items} items, but of page ${page} in pages of ${size}, where 1 is due, ${came}`,
        'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to how the platform pages, or pagination.total to where it says the total',
        cause,
      ),
  };
}

/**
 * For `page` without a total, and for an empty list by `offset` or `page`: a platform that counts pages from 0 has one before
 * number 1, and it may reply to a number that it does not understand with no items. The first page without that parameter must
 * return no others.
 */
function firstByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items } = end;
  const { pagination } = list;
  if ((pagination.kind !== 'offset' && pagination.kind !== 'page') || !mayRepeat(list) || saysTotal(first, items))
    return undefined;
  if (!isOpen(end)) return undefined;
  const isPaged = pagination.kind === 'page' && pagination.firstPage > 0;
  if (items > 0 && !isPaged) return undefined;
  const isPage = pagination.kind === 'page';
  const asked = isPage ? `${pagination.pageParam}=${pagination.firstPage}` : `${pagination.offsetParam}=0`;
  const keys = isPage ? 'pagination.pageParam, pagination.firstPage' : 'pagination.offsetParam';
  return {
    address: pageAddress(list, sizeParameter(pagination)),
    passes: (reply) => (items === 0 ? reply.count === 0 : bringsOnly(first.ids ?? '', reply)),
    refusal: 'passes',
    failed: (came) =>
      failedTest(
        `${items} items came, but of the first page without ${asked}, where no others are due, ${came}`,
        `set ${keys} and pagination.kind to how the platform pages, or pagination.total to where it says the total`,
      ),
  };
}

/** For `offset` and `page`: a total of unknown name may count the items of a page. Nothing may follow that page. */
function behindTotal({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination } = list;
  const { count, total } = first;
  if ((pagination.kind !== 'offset' && pagination.kind !== 'page') || last !== first || !mayRepeat(list))
    return undefined;
  if (count === 0 || Number(total) !== count || saysEnd(first, count)) return undefined;
  const place =
    pagination.kind === 'offset'
      ? offsetParameters(pagination, count)
      : { ...sizeParameter(pagination), [pagination.pageParam]: pagination.firstPage + 1 };
  return {
    address: pageAddress(list, place),
    passes: (reply) => reply.count === 0,
    refusal: 'passes',
    failed: (came) =>
      failedTest(
        `the total is ${count}, as many as the first page has, but behind them, where none is due, ${came}: it counts the items of the page`,
        'set pagination.total to where the platform says how many there are in all, or take it out',
      ),
  };
}

/** Whether no total is known: settings name none, or one that may count the items of the only page without another test. */
function isOpen(end: ListEnd): boolean {
  const { list, first, last } = end;
  const { pagination } = list;
  if (!namesTotal(pagination)) return true;
  const mayCountPage = pagination.total !== undefined && last === first && Number(first.total) === first.count;
  return mayCountPage && !saysEnd(first, first.count) && shorterPage(end) === undefined;
}

/** Whether all ids of a reply are among these. */
async function bringsOnly(ids: string, reply: PageView): Promise<boolean> {
  const known = new Set<string>();
  for await (const some of inSteps(ids)) for (const id of some) known.add(id);
  for await (const some of inSteps(reply.ids ?? '')) if (some.some((id) => !known.has(id))) return false;
  return true;
}
