import { bringsOnly, type EndTest, type ListEnd } from './end-test.ts';
import { saysEnd, shorterPage, sizeAsked } from './full-page.ts';
import { doubted } from './incomplete.ts';
import { mayRepeat, saysTotal } from './list-read.ts';
import { firstAddressOf, pageAddress } from './page-address.ts';
import { namesTotal, offsetParameters, sizeParameter } from './pagination.ts';

/**
 * Of `offset` without a total: an empty page ends the list, and so it does where the platform takes the number of items for
 * that of a page. The offset of the last item, or of the last two where the last alone came already, has to bring no others.
 */
export function lastByOffset(end: ListEnd): EndTest | undefined {
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
      doubted(
        `an empty page follows ${items} items, but of the offset ${place}, where the last ${due} are due, ${came}`,
        'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.total to where it says the total',
        cause,
      ),
  };
}

/** The same where settings name a total that may count the items of the page: what is behind it may be empty for either reason. */
export function lastOfTotal(end: ListEnd): EndTest | undefined {
  const endTest = namesTotal(end.list.pagination) ? lastByOffset(end) : undefined;
  return endTest && { ...endTest, refusal: 'passes' };
}

/** Of `offset` in pages of one item: where one is all, no second one comes when two are asked for. */
export function twoByOffset(end: ListEnd): EndTest | undefined {
  const { list, first, items } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || !isOpen(end) || !mayRepeat(list)) return undefined;
  if (items !== 1 || sizeAsked(list) !== 1 || saysTotal(first, items)) return undefined;
  return {
    address: firstAddressOf(list, { ...pagination, size: 2 }),
    passes: (reply) => reply.count === 1,
    refusal: 'fails',
    failed: (came, cause) =>
      doubted(
        `an empty page follows 1 item, but where 2 are asked for, ${came}`,
        'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.size to more than 1',
        cause,
      ),
  };
}

/** Of `page` without a total: where a full page and an empty one came, pages shorter by one have a second one, of one item. */
export function secondByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled } = end;
  const { pagination } = list;
  if (pagination.kind !== 'page' || !isOpen(end) || !mayRepeat(list) || saysTotal(first, items)) return undefined;
  // Of pages of two, the second item is the second page wherever they are counted from.
  if (filled !== 1 || first.count !== sizeAsked(list) || items < 3) return undefined;
  const size = items - 1;
  const page = pagination.firstPage + 1;
  return {
    address: pageAddress(list, { ...sizeParameter({ ...pagination, size }), [pagination.pageParam]: page }),
    passes: (reply) => reply.count === 1,
    refusal: 'fails',
    failed: (came, cause) =>
      doubted(
        `an empty page follows a full one of ${items} items, but of page ${page} in pages of ${size}, where 1 is due, ${came}`,
        'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to how the platform pages, or pagination.total to where it says the total',
        cause,
      ),
  };
}

/**
 * Of `page` without a total, and of an empty list by `offset` or `page`: a platform that counts pages from 0 has another one
 * before number 1, and to a number that it does not understand it may reply with no items. The first page without that
 * parameter has to bring no others.
 */
export function firstByNumber(end: ListEnd): EndTest | undefined {
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
      doubted(
        `${items} items came, but of the first page without ${asked}, where no others are due, ${came}`,
        `set ${keys} and pagination.kind to how the platform pages, or pagination.total to where it says the total`,
      ),
  };
}

/** Of `offset` and `page`: a total of unknown name may count the items of a page which the platform cuts. Nothing may be behind it. */
export function behindTotal({ list, first, last }: ListEnd): EndTest | undefined {
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
      doubted(
        `the total is ${count}, as many as the first page has, but behind them, where none is due, ${came}: it counts the items of the page`,
        'set pagination.total to where the platform says how many there are in all, or take it out',
      ),
  };
}

/** Whether no total is known: settings name none, or one that may count the items of the only page and is not tested otherwise. */
function isOpen(end: ListEnd): boolean {
  const { list, first, last } = end;
  const { pagination } = list;
  if (!namesTotal(pagination)) return true;
  const mayCountPage = pagination.total !== undefined && last === first && Number(first.total) === first.count;
  return mayCountPage && !saysEnd(first, first.count) && shorterPage(end) === undefined;
}
