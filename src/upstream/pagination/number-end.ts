import { COUNTS } from '../signs/signs.ts';
import type { EndTest, ListEnd } from './end-test.ts';
import { saysEnd, sizeAsked } from './full-page.ts';
import { doubted } from './incomplete.ts';
import { mayRepeat } from './list-read.ts';
import { firstAddressOf, pageAddress } from './page-address.ts';
import { namesTotal, offsetParameters, sizeParameter } from './pagination.ts';

/**
 * Of `offset` without a total: an empty page ends the list, and so it does where the platform takes the number of items for
 * that of a page. The offset of the last item, or of the last two where the last alone came already, has to bring no others.
 */
export function lastByOffset(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled, tail } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || namesTotal(pagination) || first.count < 2 || !mayRepeat(list)) return undefined;
  if (isTold(end) || (filled === 1 && saysEnd(first, items))) return undefined;
  const due = tail === 1 ? 2 : 1;
  const place = items - due;
  return {
    address: pageAddress(list, offsetParameters(pagination, place)),
    passes: (reply) => reply.count === due,
    refusal: 'fails',
    failed: (came, cause) =>
      doubted(
        `an empty page follows ${items} items, but of the offset ${place}, where the last ${due} are due, ${came}`,
        'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.total to where it says the total',
        cause,
      ),
  };
}

/** Of `offset` in pages of one item: where one is all, no second one comes when two are asked for. */
export function twoByOffset(end: ListEnd): EndTest | undefined {
  const { list, items } = end;
  const { pagination } = list;
  if (pagination.kind !== 'offset' || namesTotal(pagination) || !mayRepeat(list)) return undefined;
  if (items !== 1 || sizeAsked(list) !== 1 || isTold(end)) return undefined;
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

const NUMBER_CURE =
  'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to how the platform pages, or pagination.total to where it says the total';

/** Of `page` without a total: where a full page and an empty one came, pages shorter by one have a second one, of one item. */
export function secondByNumber(end: ListEnd): EndTest | undefined {
  const { list, first, items, filled } = end;
  const { pagination } = list;
  if (pagination.kind !== 'page' || namesTotal(pagination) || !mayRepeat(list) || isTold(end)) return undefined;
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
        NUMBER_CURE,
        cause,
      ),
  };
}

/** Of `page` without a total, otherwise: in pages of one item, nothing is behind as many pages as there are items. */
export function behindByNumber(end: ListEnd): EndTest | undefined {
  const { list, items } = end;
  const { pagination } = list;
  if (pagination.kind !== 'page' || namesTotal(pagination) || pagination.sizeParam === null) return undefined;
  if (items === 0 || !mayRepeat(list) || isTold(end)) return undefined;
  const page = pagination.firstPage + items;
  return {
    address: pageAddress(list, { ...sizeParameter({ ...pagination, size: 1 }), [pagination.pageParam]: page }),
    passes: (reply) => reply.count === 0,
    refusal: 'passes',
    failed: (came, cause) =>
      doubted(
        `${items} items came, but of page ${page} in pages of 1, where none is due, ${came}: the pages may be counted from 0`,
        NUMBER_CURE,
        cause,
      ),
  };
}

/** Of `offset` and `page`: what is called a count may be that of a page which the platform cuts. Nothing may be behind it. */
export function behindTotal({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination } = list;
  const { count, total, said } = first;
  if ((pagination.kind !== 'offset' && pagination.kind !== 'page') || last !== first || !mayRepeat(list))
    return undefined;
  const isCount = said.some(({ sign, name, says }) => sign === 'total' && COUNTS.includes(name) && says === count);
  if (count === 0 || Number(total) !== count || !isCount || saysEnd(first, count)) return undefined;
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

/** Whether the first page says a total, other than what may count its own items, of as many items as came. */
function isTold({ first, items }: ListEnd): boolean {
  return first.said.some(({ sign, name, says }) => sign === 'total' && says === items && !COUNTS.includes(name));
}
