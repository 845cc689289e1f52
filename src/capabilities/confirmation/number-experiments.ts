import type { GatewayError } from '../../core/kernel/errors.ts';
import type { ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import { failedTest, hasOneId, sizeAsked } from '../../core/upstream/paging/list-read.ts';
import {
  firstAddressOf,
  type NumberPagination,
  namesTotal,
  numberParameters,
  type OffsetPagination,
  offsetParameters,
  sizeParameter,
} from '../../core/upstream/paging/page-address.ts';
import { hasOnlyIds, type Try } from './experiment.ts';

/** Platforms that refuse what is behind a bound have a multiple of this, such as 10,000 of Elasticsearch. */
const WINDOW = 1000;

/** Tries the places behind a list that is paged by number, and whether the numbers mean what settings expect. */
export async function byNumber(
  end: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
): Promise<boolean> {
  const { first, items, pages, tailIds } = end;
  const known = `${first.ids ?? ''}${tailIds}`;
  const placeOf = (index: number, offset: number) =>
    pagination.kind === 'offset' ? offsetParameters(pagination, offset) : numberParameters(pagination, index);
  const isReal = await hasRealTotal(end, pagination, attempt);
  if (items > 0 || !namesTotal(pagination)) {
    const unseen = pagination.sizeParam === null ? 2 : pagination.size;
    const full = first.count === 0 ? unseen : first.count;
    const from = items === 0 ? 0 : pages;
    // Behind a total, and one page further if it may be the length of the page; or beyond the empty page that ended the list, in steps of the size asked for and of that received.
    const steps = namesTotal(pagination) ? [0, ...(end.filled === 1 && !isReal ? [1] : [])] : [1, 2, 4];
    const offsets = new Set([
      ...steps.map((step) => items + step * full),
      ...(namesTotal(pagination) ? [] : [items + pagination.size]),
      // Of an empty first page, no size is known.
      ...(items === 0 ? [2, 10] : []),
    ]);
    let isRepeated = false;
    for (const [step, offset] of [...offsets].entries()) {
      if (pagination.kind === 'page' && step >= steps.length) break;
      const reply = await attempt(placeOf(from + (steps[step] ?? 0), offset));
      if (reply === undefined) {
        if (namesTotal(pagination) && items % WINDOW === 0 && pagination.beyondEnd !== 'refused') throw closed(items);
        break;
      }
      if (reply.count === 0) continue;
      // The last page again; or the first, because the platform ignores the place.
      if (await hasOnlyIds(known, reply)) {
        isRepeated = true;
        continue;
      }
      throw failedTest(
        `the list seems to end after ${items} items, but a request further on (${pagination.kind === 'offset' ? `offset ${offset}` : `page ${from + (steps[step] ?? 0) + pagination.firstPage}`}) returned ${reply.count} others`,
        namesTotal(pagination)
          ? 'set pagination.total to the number of all items in the reply, or remove it if the platform caps or estimates it'
          : 'the platform filters its pages after it has cut them: set pagination to another kind or to a total, or query to what leaves none out',
      );
    }
    // Where ids may repeat, one id may fill all pages of a platform that ignores the place.
    if (isRepeated && first.idsMayRepeat && items > 1 && hasOneId(known)) throw unread(end, pagination);
    if (isRepeated && end.filled === 1 && !isReal) await secondPlace(end, pagination, attempt, first.ids);
  }
  if (isReal) return true;
  await lastByOffset(end, pagination, attempt);
  await secondByNumber(end, pagination, attempt);
  await firstByNumber(end, pagination, attempt, known);
  return items > 0;
}

function unread({ items }: ListEnd, { kind }: OffsetPagination | NumberPagination): GatewayError {
  return failedTest(
    `all ${items} items have one id, and so have those behind them`,
    `set pagination.${kind}Param to the parameter that the platform reads`,
  );
}

function closed(items: number): GatewayError {
  return failedTest(
    `the total is ${items}, a round number, and a request behind it was refused, so the platform may bound what it serves`,
    'divide the list by query or lists, or set pagination.beyondEnd: refused if it is complete',
  );
}

/** Whether a total that equals a full first page is not its length: a shorter page has the same one. */
async function hasRealTotal(
  { list, first, last }: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
): Promise<boolean> {
  if (!namesTotal(pagination) || last !== first || first.count < 2 || first.count !== sizeAsked(list)) return false;
  const reply = await attempt(firstAddressOf(list, { ...pagination, size: first.count - 1 }));
  return reply !== undefined && reply.count < first.count && Number(reply.total ?? Number.NaN) === first.count;
}

/**
 * A platform that takes the offset for a page number also ends with an empty page. The offset of the last item, or of the last
 * two if the last was a page by itself, must return no others.
 */
async function lastByOffset(
  { first, items, filled, tail, tailIds }: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
): Promise<void> {
  if (pagination.kind !== 'offset' || first.count < 2) return;
  if (namesTotal(pagination) && filled > 1) return;
  const due = tail === 1 ? 2 : 1;
  const reply = await attempt(offsetParameters(pagination, items - due));
  // With a total, one more refusal shows nothing.
  if (reply === undefined ? namesTotal(pagination) : reply.count === due && (await hasOnlyIds(tailIds, reply))) return;
  throw failedTest(
    `an empty page follows ${items} items, but a request for the last ${due}, at offset ${items - due}, ${reply === undefined ? 'was refused' : `returned ${reply.count}`}`,
    'set pagination.kind and pagination.offsetParam to the pagination of the platform, or pagination.total to the total in the reply',
  );
}

/** After a full page and an empty one, pages shorter by one have a second page, of one item. */
async function secondByNumber(
  { list, first, items, filled }: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
): Promise<void> {
  if (pagination.kind !== 'page' || namesTotal(pagination)) return;
  // In pages of two, the second item is the second page whichever number is first.
  if (filled !== 1 || first.count !== sizeAsked(list) || items < 3) return;
  await secondPlace({ items }, pagination, attempt);
}

/** `ids`: the second page of shorter ones must have the last of these. @default any item */
async function secondPlace(
  { items }: Pick<ListEnd, 'items'>,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
  ids?: string,
): Promise<void> {
  if (pagination.kind !== 'page') return;
  const size = items - 1;
  const reply =
    size < 1 || pagination.sizeParam === null ? undefined : await attempt(numberParameters({ ...pagination, size }, 1));
  if (reply?.count === 1 && (ids === undefined || ids.endsWith(reply.ids ?? ''))) return;
  throw failedTest(
    `an empty page follows a full one of ${items} items, but a request for page ${pagination.firstPage + 1} in pages of ${size}, with 1 item, ${reply === undefined ? 'was refused' : `returned ${reply.count}`}`,
    'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to the pagination of the platform, or pagination.total to the total in the reply',
  );
}

/** A platform that counts pages from 0 has one before number 1, and may reply to an unknown number with no items. */
async function firstByNumber(
  { first, items, filled }: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: Try,
  known: string,
): Promise<void> {
  const isPage = pagination.kind === 'page';
  if (items > 0 && (!isPage || pagination.firstPage === 0)) return;
  const reply = await attempt(sizeParameter(pagination));
  if (reply === undefined || (items === 0 && reply.count === 0)) return;
  // Where ids may repeat, those of an earlier page may all be known.
  const { ids = '' } = first;
  const isBegin = !first.idsMayRepeat || ids.startsWith(reply.ids ?? '') || reply.ids?.startsWith(ids);
  if (items > 0 && isBegin && (await hasOnlyIds(filled === 1 ? ids : known, reply))) return;
  const asked = isPage ? `${pagination.pageParam}=${pagination.firstPage}` : `${pagination.offsetParam}=0`;
  throw failedTest(
    `the list has ${items} items, but a request for the first page without ${asked} returned ${reply.count}, others among them`,
    `set ${isPage ? 'pagination.pageParam, pagination.firstPage' : 'pagination.offsetParam'} and pagination.kind to the pagination of the platform, or pagination.total to the total in the reply`,
  );
}
