import type { ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import { endTestError, hasOneId, type PageSummary, sizeAsked } from '../../core/upstream/paging/list-read.ts';
import {
  firstAddressOf,
  type NumberPagination,
  namesTotal,
  numberParameters,
  type OffsetPagination,
  offsetParameters,
  sizeParameter,
} from '../../core/upstream/paging/page-address.ts';
import { hasOnlyIds, type RunExperiment } from './experiment.ts';

/** Platforms that refuse what is behind a bound have a multiple of this, such as 10,000 of Elasticsearch. */
const WINDOW = 1000;

/** Tries the places behind a list that is paged by number, and whether the numbers mean what settings expect. */
export async function byNumber(
  end: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  attempt: RunExperiment,
): Promise<boolean> {
  const { list, first, last, items, pages, filled, lastPageCount, lastPageIds } = end;
  const { ids = '' } = first;
  const known = `${ids}${lastPageIds}`;
  const hasTotal = namesTotal(pagination);
  const isFull = first.count === sizeAsked(list);

  /** Whether a total that equals a full first page is not its length: a shorter page has the same one. */
  async function hasRealTotal(): Promise<boolean> {
    if (!hasTotal || last !== first || first.count < 2 || !isFull) return false;
    const reply = await attempt(firstAddressOf(list, { ...pagination, size: first.count - 1 }));
    return reply !== undefined && reply.count < first.count && Number(reply.total ?? Number.NaN) === first.count;
  }

  /** Where ids may repeat, a page of known ids may be a further one, unless it is the first one or the end of the list. */
  function isKnownPage({ count, ids: found = '' }: PageSummary): boolean {
    const isEnd = count >= lastPageCount && lastPageIds.endsWith(found);
    return !first.idsMayRepeat || found === ids || isEnd;
  }

  /** Expects nothing new at the places behind the list. Returns whether any of them repeated what is known. */
  async function expectNoMore(): Promise<boolean> {
    let isRepeated = false;
    for (const { name, parameters } of placesBehind(end, pagination, isReal)) {
      const reply = await attempt(parameters);
      if (reply === undefined) {
        // Without a total, a refusal is what the list ended with.
        if (items > 0 && items % WINDOW === 0 && hasTotal !== (pagination.beyondEnd === 'refused')) {
          throw endTestError(
            `the ${hasTotal ? 'total' : 'number of items'} is ${items}, a round number, and a request behind it was refused, so the platform may bound what it serves`,
            `divide the list by query or lists${hasTotal ? ', or set pagination.beyondEnd: refused if it is complete' : ''}`,
          );
        }
        break;
      }
      if (reply.count === 0) continue;
      // The last page again; or the first, because the platform ignores the place.
      if (isKnownPage(reply) && (await hasOnlyIds(known, reply))) {
        isRepeated = true;
        continue;
      }
      throw endTestError(
        `the list seems to end after ${items} items, but a request further on (${name}) returned ${reply.count} others`,
        hasTotal
          ? 'set pagination.total to the number of all items in the reply, or remove it if the platform caps or estimates it'
          : 'the platform filters its pages after it has cut them: set pagination to another kind or to a total, or query to what leaves none out',
      );
    }
    return isRepeated;
  }

  /**
   * A platform that takes the offset for a page number also ends with an empty page. The offset of the last item, or of the last
   * two if the last was a page by itself, must return no others.
   */
  async function expectLastByOffset(): Promise<void> {
    if (pagination.kind !== 'offset' || first.count < 2 || (hasTotal && filled > 1)) return;
    const due = lastPageCount === 1 ? 2 : 1;
    const reply = await attempt(offsetParameters(pagination, items - due));
    // With a total, one more refusal shows nothing.
    if (reply === undefined ? hasTotal : reply.count === due && (await hasOnlyIds(lastPageIds, reply))) return;
    throw endTestError(
      `an empty page follows ${items} items, but a request for the last ${due}, at offset ${items - due}, ${reply === undefined ? 'was refused' : `returned ${reply.count}`}`,
      'set pagination.kind and pagination.offsetParam to the pagination of the platform, or pagination.total to the total in the reply',
    );
  }

  /** Pages shorter by one have a second page, of one item: the last of the known ones, if they are given. */
  async function expectSecondPage(isLast: (ids: string) => boolean = () => true): Promise<void> {
    // No platform has pages of one item by default.
    if (pagination.kind !== 'page' || items === 1) return;
    const size = items - 1;
    const isAsked = pagination.sizeParam !== null;
    const reply = isAsked ? await attempt(numberParameters({ ...pagination, size }, 1)) : undefined;
    if (reply?.count === 1 && isLast(reply.ids ?? '')) return;
    throw endTestError(
      `an empty page follows a full one of ${items} items, but a request for page ${pagination.firstPage + 1} in pages of ${size}, with 1 item, ${reply === undefined ? 'was refused' : `returned ${reply.count}`}`,
      'set pagination.pageParam, pagination.firstPage and pagination.sizeParam to the pagination of the platform, or pagination.total to the total in the reply',
    );
  }

  /** A platform that counts pages from 0 has one before number 1, and may reply to an unknown number with no items. */
  async function expectFirst(): Promise<void> {
    const isPage = pagination.kind === 'page';
    if (items > 0 && (!isPage || pagination.firstPage === 0)) return;
    // A list can be empty because the size is sent under the name of a place.
    const reply = await attempt(items === 0 ? {} : sizeParameter(pagination));
    if (reply === undefined || (items === 0 && reply.count === 0)) return;
    // Some platforms send the whole list if no page is requested.
    if (items > 0 && reply.count === items && reply.ids?.startsWith(ids)) return;
    // Where ids may repeat, those of an earlier page may all be known.
    const mayBegin = ids.startsWith(reply.ids ?? '') || reply.ids?.startsWith(ids);
    const isBegin = first.idsMayRepeat ? mayBegin : reply.count <= items;
    if (items > 0 && isBegin && (await hasOnlyIds(filled === 1 ? ids : known, reply))) return;
    const asked = isPage ? `${pagination.pageParam}=${pagination.firstPage}` : `${pagination.offsetParam}=0`;
    throw endTestError(
      `the list has ${items} items, but a request for the first page without ${asked} returned ${reply.count}, others among them`,
      `set ${isPage ? 'pagination.pageParam, pagination.firstPage' : 'pagination.offsetParam'} and pagination.kind to the pagination of the platform, or pagination.total to the total in the reply`,
    );
  }

  /** A platform that cuts its pages below the size may still count them by it: pages of the size received must have no others. */
  async function expectSize(): Promise<void> {
    if (pagination.kind !== 'page' || pagination.sizeParam === null || hasTotal || first.count < 2 || isFull) return;
    const reply = await attempt(numberParameters({ ...pagination, size: first.count }, Math.max(1, pages - 1)));
    if (reply === undefined || (await hasOnlyIds(known, reply))) return;
    throw endTestError(
      `pages of ${pagination.size} items were requested, the first has ${first.count}, and a page of that size has others`,
      `set pagination.size to ${first.count} or less`,
    );
  }

  const isReal = await hasRealTotal();
  if (items > 0 || !hasTotal) {
    const isRepeated = await expectNoMore();
    // Where ids may repeat, one id may fill all pages of a platform that ignores the place.
    if (isRepeated && first.idsMayRepeat && items > 1 && hasOneId(known)) {
      throw endTestError(
        `all ${items} items have one id, and so have those behind them`,
        `set pagination.${pagination.kind}Param to the parameter that the platform reads`,
      );
    }
    // An id that may not repeat is not both the first and the last.
    const isLast = (found: string) => ids.endsWith(found) && (first.idsMayRepeat === true || !ids.startsWith(found));
    if (isRepeated && filled === 1 && !isReal) await expectSecondPage(isLast);
  }
  if (isReal) return true;
  await expectLastByOffset();
  // In pages of two, the second item is the second page whichever number is first.
  if (!hasTotal && filled === 1 && isFull && items > 2) await expectSecondPage();
  await expectFirst();
  await expectSize();
  return items > 0;
}

/**
 * Returns the places behind a total, and one page further if it may be the length of the page; or those beyond the empty page that
 * ended the list, in steps of the size asked for and of that received.
 */
function placesBehind(
  { first, items, pages, filled }: ListEnd,
  pagination: OffsetPagination | NumberPagination,
  isReal: boolean,
) {
  const hasTotal = namesTotal(pagination);
  const steps = hasTotal ? [0, ...(filled === 1 && !isReal ? [1] : [])] : [1, 2, 4];
  if (pagination.kind === 'page') {
    return steps.map((step) => {
      const index = (items === 0 ? 0 : pages) + step;
      return { name: `page ${index + pagination.firstPage}`, parameters: numberParameters(pagination, index) };
    });
  }
  // Of an empty first page, no size is known.
  const full = first.count || (pagination.sizeParam === null ? 2 : pagination.size);
  const further = [...(hasTotal ? [] : [items + pagination.size]), ...(items === 0 ? [2, 10] : [])];
  return [...new Set([...steps.map((step) => items + step * full), ...further])].map((offset) => {
    return { name: `offset ${offset}`, parameters: offsetParameters(pagination, offset) };
  });
}
