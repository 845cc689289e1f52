import { GatewayError } from '../../core/kernel/errors.ts';
import type { Statement } from '../../core/upstream/hints/statements.ts';
import { nextOf } from '../../core/upstream/paging/by-next.ts';
import type { Ask, ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import {
  failedTest,
  goesOn,
  inSteps,
  isNone,
  isSize,
  type ListRequest,
  mayRepeat,
  type PageView,
  sizeAsked,
  statesTotal,
} from '../../core/upstream/paging/list-read.ts';
import {
  firstAddress,
  firstAddressOf,
  type NumberPagination,
  namesTotal,
  numberParameters,
  type OffsetPagination,
  offsetParameters,
  type PageAddress,
  pageAddress,
  sizeParameter,
} from '../../core/upstream/paging/page-address.ts';
import { PAIRS, type Place, pairParameters, tokenParameters, usualParameters } from './usual-parameters.ts';

/** Bound on the requests for one list. */
const MAX_REQUESTS = 12;
/** A platform that does not accept the requested size or place. */
const REFUSED: readonly unknown[] = [400, 404, 405, 410, 414, 416, 422];
/** From here on, a round total may be a bound of the platform, such as 10,000. */
const CAPPED = 100;
/** Platforms that refuse what is behind a bound have a multiple of this, such as 10,000 of Elasticsearch. */
const WINDOW = 1000;

/** Returns a page, or `undefined` if the platform refuses the request. */
type Try = (parameters: PageAddress | Readonly<Record<string, string | number>>) => Promise<PageView | undefined>;

/**
 * Tries whether a list has more items than were read. Resolves with whether anything could be shown: an empty list, for example,
 * shows nothing. Throws `upstream_invalid` if there is more.
 */
export async function findMore(end: ListEnd, ask: Ask): Promise<boolean> {
  const { list, first } = end;
  if (isProven(end)) return true;
  if (!mayRepeat(list)) return checkPost(end);
  let requests = 0;
  const attempt: Try = async (where) => {
    requests += 1;
    if (requests > MAX_REQUESTS) return undefined;
    const address = 'url' in where ? (where as PageAddress) : pageAddress(list, where as Record<string, number>);
    try {
      return await ask(address);
    } catch (error) {
      if (error instanceof GatewayError && REFUSED.includes(error.upstreamStatus)) return undefined;
      throw error;
    }
  };
  try {
    return await tryPaging(end, attempt);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.upstreamStatus !== undefined) throw error;
    // A list that has other items by now shows nothing.
    const again = await attempt(firstAddress(list));
    if (again === undefined || (await hasOnlyIds(`${first.ids ?? ''}${end.tailIds}`, again))) throw error;
    return false;
  }
}

async function tryPaging(end: ListEnd, attempt: Try): Promise<boolean> {
  const { list, first } = end;
  const { pagination } = list;
  if (pagination.kind === 'offset' || pagination.kind === 'page') return byNumber(end, pagination, attempt);
  if (end.last !== first) return end.filled === 1 ? uselessToken(end, attempt) : true;
  // No platform has pages of one item by default.
  if (first.count < 2) return false;
  if (pagination.kind !== 'none' && (await leadsOn(end, attempt))) return true;
  return unpaged(end, attempt);
}

/** Whether a statement that cannot be the length of the page shows the end. A round total at the end of a full page does not. */
function isProven({ list, first, last, items, tail, filled }: ListEnd): boolean {
  const { kind, total, totalHeader = '' } = list.pagination;
  const isFull = tail === first.count && tail > 0;
  // One that settings name ends the list; it may also be an estimate.
  const endsByTotal = (kind === 'offset' || kind === 'page') && namesTotal(list.pagination) && last !== first;
  const mayBeCapped = isFull && (endsByTotal || (items >= CAPPED && items % 50 === 0));
  // The total in the body of a page of the size that was asked for may be that size.
  const isAsked = isFullPage({ list, first, last });
  const header = total === undefined ? first.headers[totalHeader.toLowerCase()] : undefined;
  const totals = isAsked ? first.statements.filter((each) => !isTotalInBody(each)) : first.statements;
  const isTotalled = statesTotal({ ...first, statements: totals }, items) || Number(header ?? Number.NaN) === items;
  if (!mayBeCapped && isTotalled) return true;
  // These do not show that a list by number begins where it seems to.
  if (kind === 'offset' || kind === 'page') return false;
  if (last === first && (first.next === '' || first.next === false)) return true;
  // An empty page behind the first may be one that the platform did not understand.
  return (filled > 1 ? last : first).statements.some(
    ({ sign, stated, isCount }) =>
      ((sign === 'more' || sign === 'next') && stated === false) ||
      (sign === 'pages' && isCount !== true && stated === 1 && last === first),
  );
}

/** Without `retryPost`, nothing is tried: a full first page that shows no end is an error. */
function checkPost({ list, first, last }: ListEnd): boolean {
  const { kind, ignoreSigns } = list.pagination;
  const size = sizeAsked(list);
  const isOpen = kind === 'token' || kind === 'link' || kind === 'none';
  if (isOpen && last === first && first.count === size && ignoreSigns?.includes('fullPage') !== true) {
    throw goesOn(
      'fullPage',
      `${size} items were requested and received, and nothing shows that they are all`,
      'if the POST changes nothing, set retryPost: true, which allows more requests as a test',
    );
  }
  return true;
}

const CURE = 'set pagination.kind and its keys to the pagination of the platform';

/** Tries whether a shorter first page leads on as settings expect. Resolves with `false` if it has the same length. */
async function leadsOn({ list, first }: ListEnd, attempt: Try): Promise<boolean> {
  const { pagination } = list;
  if (pagination.kind !== 'token' && pagination.kind !== 'link') return false;
  if (pagination.sizeParam === null) return false;
  const { count } = first;
  const reply = await attempt(firstAddressOf(list, { ...pagination, size: count - 1 }));
  if (reply === undefined || reply.count === count) {
    if (count !== pagination.size) return false;
    throw full(count);
  }
  if (reply.count > count) throw more(`a request for ${count - 1} items returned ${reply.count}`, count);
  const hasNext = pagination.kind === 'token' ? !isNone(reply.next) : nextOf(reply, pagination) !== undefined;
  const totals = [Number(reply.total ?? 0), ...reply.statements.filter(isTotalInBody).map(({ stated }) => stated)];
  if (hasNext || totals.includes(count)) return true;
  throw failedTest(
    `the first page has ${count} items and leads to no other, but neither does one of ${reply.count}, of which that is known to be wrong`,
    pagination.kind === 'token' ? `correct pagination.next and pagination.tokenParam, or ${CURE}` : CURE,
  );
}

/** Tries a list of one page as platforms usually page theirs: the place behind it, a smaller and a larger size. */
async function unpaged({ list, first }: ListEnd, attempt: Try): Promise<boolean> {
  const { count } = first;
  const own = ownSize(list);
  const sized = (size: number) => (own === undefined ? {} : { [own]: size });
  for (const { token } of first.statements) {
    if (token === undefined) continue;
    await expectNoOthers(await attempt(tokenParameters(token)), first, 'with the token in its reply');
  }
  const usual = (place: Place) => attempt({ ...usualParameters(place), ...sized(place.size ?? count) });
  const behind = await usual({ size: count, offset: count, page: 2 });
  if (behind === undefined) {
    for (const pair of PAIRS)
      await expectNoOthers(await attempt(pairParameters(pair, count)), first, `under ${pair.join(' and ')}`);
  } else {
    await expectNoOthers(behind, first, 'behind it, under the usual names');
    // The caller may see none of the second page.
    if (behind.count === 0)
      await expectNoOthers(await usual({ size: count, offset: 2 * count, page: 3 }), first, 'one page further');
  }
  const smaller =
    (await usual({ size: count - 1 })) ?? (own === undefined ? undefined : await attempt(sized(count - 1)));
  const isSized = smaller !== undefined && smaller.count < count;
  if (!isSized && count === sizeAsked(list)) throw full(count);
  if (!isSized && (behind === undefined || behind.count === count)) return true;
  const pageOne = behind && (await usual({ size: count, page: 1 }));
  await expectNoOthers(pageOne, first, 'for page 1');
  if (!isSized) return true;
  const larger = await usual({ size: count * 2 });
  await expectNoOthers(larger, first, 'of twice the size');
  if (count === 2) await expectNoOthers(await usual({ size: 2, offset: 1 }), first, 'from the second item on');
  // An empty page behind it shows nothing unless the place of the last item is understood, too.
  if (behind?.count === 0) {
    const isLast = async (size: number, page: number) => {
      const last = await usual({ size, offset: count - 1, page });
      // A page number under the name of an offset leads to others.
      await expectNoOthers(last, first, 'for the last item');
      return last?.count === 1 && (last.ids === undefined || first.ids?.endsWith(last.ids) === true);
    };
    if ((await isLast(count - 1, 2)) && (await isLast(1, count))) return true;
    // Pages counted from 0: page 1 of a whole list is empty.
    if (!pageOne?.count && (await isLast(count - 1, 1)) && (await isLast(1, count - 1))) return true;
  }
  // Otherwise a name may be that of a filter.
  if (smaller.count === count - 1 || larger?.count === count) expectShown(smaller, count);
  return true;
}

/** The parameter of the size in settings. */
function ownSize({ pagination, query }: ListRequest): string | undefined {
  if (pagination.kind !== 'none') return pagination.sizeParam ?? undefined;
  return Object.entries(query).find(isSize)?.[0];
}

/** Throws for a shorter page that does not show that there is more: then the whole one would not either. */
function expectShown(smaller: PageView, count: number): void {
  const isShown = smaller.statements.some(
    ({ sign, stated }) =>
      (sign === 'total' && Number(stated) === count) || ((sign === 'next' || sign === 'more') && stated === true),
  );
  if (!isShown)
    throw more(`a request with a page size of ${count - 1} returned ${smaller.count}, and shows no more`, count);
}

async function byNumber(end: ListEnd, pagination: OffsetPagination | NumberPagination, attempt: Try): Promise<boolean> {
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
    if (isRepeated && end.filled === 1 && !isReal) await secondPlace(end, pagination, attempt, first.ids);
  }
  if (isReal) return true;
  await lastByOffset(end, pagination, attempt);
  await secondByNumber(end, pagination, attempt);
  await firstByNumber(end, pagination, attempt, known);
  return items > 0;
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
  if (
    reply === undefined ||
    (items === 0 ? reply.count === 0 : await hasOnlyIds(filled === 1 ? (first.ids ?? '') : known, reply))
  )
    return;
  const asked = isPage ? `${pagination.pageParam}=${pagination.firstPage}` : `${pagination.offsetParam}=0`;
  throw failedTest(
    `the list has ${items} items, but a request for the first page without ${asked} returned ${reply.count}, others among them`,
    `set ${isPage ? 'pagination.pageParam, pagination.firstPage' : 'pagination.offsetParam'} and pagination.kind to the pagination of the platform, or pagination.total to the total in the reply`,
  );
}

/** A list of which no token led to items (DynamoDB returns a key behind the last one): a shorter page must have one that does. */
async function uselessToken({ list, first }: ListEnd, attempt: Try): Promise<boolean> {
  const { pagination } = list;
  if (pagination.kind !== 'token' || pagination.sizeParam === null || first.count === 0) return false;
  const size = { [pagination.sizeParam]: first.count === 1 ? 2 : first.count - 1 };
  const other = await attempt(size);
  if (other === undefined) return true;
  const leads = other.count < first.count && !isNone(other.next);
  const rest = leads ? await attempt({ ...size, [pagination.tokenParam]: String(other.next) }) : undefined;
  if (other.count <= first.count && rest?.count !== 0) return true;
  throw failedTest(
    `the token of a first page of ${first.count} items leads to no others, but a request for ${Object.values(size)[0]} returned ${other.count}, followed by ${rest?.count ?? 'more'}`,
    'correct pagination.next (the token in the page), pagination.tokenParam (its parameter) or pagination.kind',
  );
}

async function expectNoOthers(
  reply: PageView | undefined,
  { ids = '', count }: PageView,
  where: string,
): Promise<void> {
  if (reply === undefined || reply.count === 0 || (await hasOnlyIds(ids, reply))) return;
  throw more(`a request ${where} returned ${reply.count} items, others among them`, count);
}

/** Whether the only page has exactly the items that were asked for. */
export function isFullPage({ list, first, last }: Pick<ListEnd, 'list' | 'first' | 'last'>): boolean {
  const { kind } = list.pagination;
  return kind !== 'offset' && kind !== 'page' && last === first && first.count > 0 && first.count === sizeAsked(list);
}

function full(count: number): GatewayError {
  return goesOn('fullPage', `${count} items were requested and received, and nothing shows that they are all`);
}

function more(what: string, count: number): GatewayError {
  return failedTest(`the list has ${count} items, but ${what}, so the list is paged`, CURE);
}

async function hasOnlyIds(ids: string, reply: PageView): Promise<boolean> {
  const known = new Set<string>();
  for await (const some of inSteps(ids)) for (const id of some) known.add(id);
  for await (const some of inSteps(reply.ids ?? '')) if (some.some((id) => !known.has(id))) return false;
  return true;
}

function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
}
