import { inOrder } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Sign } from '../hints/words.ts';
import type { PageTarget } from '../upstream.ts';
import { followedPages } from './by-next.ts';
import { type Confirmation, type ListEnd, NO_CONFIRMATION, type Progress } from './list-confirmation.ts';
import {
  checkBounds,
  hasOneId,
  incompleteListError,
  inSteps,
  type ListRead,
  type ListRequest,
  mayRepeat,
  moreItemsError,
  type PageSummary,
  sizeAsked,
  textDigestsOf,
  totalKey,
  totalOf,
} from './list-read.ts';
import {
  firstAddress,
  type NumberPagination,
  namesTotal,
  numberParameters,
  type OffsetPagination,
  offsetParameters,
  type PageAddress,
  pageAddress,
} from './page-address.ts';

/** The target of the first page of a list. */
export function firstTarget(list: ListRequest): PageTarget {
  return targetOf(firstAddress(list));
}

/** Rejects with `upstream_invalid` if pages loop, repeat, do not add up, exceed a bound or state that there are more. */
export function paginate<P extends PageSummary>(
  list: ListRequest,
  first: P,
  fetchPage: (target: PageTarget, signal: AbortSignal, isTrial?: boolean) => Promise<P>,
  signal: AbortSignal,
  confirmation: Pick<Confirmation, 'confirm'> = NO_CONFIRMATION,
): AsyncGenerator<P> {
  let pages = 1;
  const fetch = async (address: PageAddress, pageSignal: AbortSignal): Promise<P> => {
    pages += 1;
    checkBounds(list, { pages });
    return fetchPage(targetOf(address), pageSignal).catch((error: unknown) => {
      throw isRefusal(error) ? error.explained(` to a page after the first: ${REFUSED}`) : error;
    });
  };
  const read = { list, first, fetch, signal };
  return checked(read, pagesOf(read), (end) =>
    confirmation.confirm(end, (address, until = signal) => fetchPage(targetOf(address), until, true)),
  );
}

function pagesOf<P extends PageSummary>(read: ListRead<P>): AsyncIterable<P> | Iterable<P> {
  const { pagination } = read.list;
  switch (pagination.kind) {
    case 'none':
      return [read.first];
    case 'token':
    case 'link':
      return followedPages(read, pagination);
    case 'offset':
    case 'page':
      return namesTotal(pagination) ? knownTotalPages(read, pagination) : countedPages(read, pagination);
  }
}

function targetOf({ url, post }: PageAddress): PageTarget {
  return { target: url.pathname + url.search, post };
}

/**
 * An offset goes on by the items that came, since the platform may cap the size of pages: a short page is not the end. By number, a page
 * of another length than the first, but the last, means that items are missing.
 */
async function* countedPages<P extends PageSummary>(
  read: ListRead<P>,
  pagination: OffsetPagination | NumberPagination,
): AsyncGenerator<P> {
  const { list, first } = read;
  let offset = 0;
  let page = first;
  for (let index = 1; ; index += 1) {
    yield page;
    if (page.count === 0) return;
    offset += page.count;
    const next = await fetchNext(read, pagination, pageAddress(list, parametersOf(pagination, index, offset)), page);
    if (next === undefined) return;
    if (pagination.kind === 'page' && next.count > 0 && (next.count > first.count || page.count < first.count)) {
      throw incompleteListError(
        `a page before the last is not full: the first has ${first.count} items, page ${index} has ${page.count} and page ${index + 1} has ${next.count}: check pagination.pageParam and pagination.sizeParam`,
      );
    }
    page = next;
  }
}

function parametersOf(pagination: OffsetPagination | NumberPagination, index: number, offset: number) {
  return pagination.kind === 'offset' ? offsetParameters(pagination, offset) : numberParameters(pagination, index);
}

/** Statuses of a page behind the last one. */
const BEYOND: readonly unknown[] = [400, 404, 410, 416, 422];

function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && BEYOND.includes(error.upstreamStatus);
}

const REFUSED =
  'correct the keys of pagination, or divide the list by query or lists if the platform bounds it; set pagination.beyondEnd: refused if the list ends there, or kind: link if the platform accepts nothing beside its token';

/** Requests the next page; `undefined` if what comes is what platforms send behind the last one. */
async function fetchNext<P extends PageSummary>(
  { list, first, fetch, signal }: ListRead<P>,
  { kind, beyondEnd }: OffsetPagination | NumberPagination,
  address: PageAddress,
  previous: P,
): Promise<P | undefined> {
  const isShort = previous.count < (previous === first ? (sizeAsked(list) ?? 0) : first.count);
  let page: P;
  try {
    page = await fetch(address, signal);
  } catch (error) {
    if (isRefusal(error) && (isShort || beyondEnd === 'refused')) return undefined;
    throw error;
  }
  const isRepeated = page.ids !== undefined && page.count > 0 && [first.ids, previous.ids].includes(page.ids);
  // Where ids may repeat, a page of one id may be a further one.
  const isSame = [first.digests, previous.digests].includes(page.digests);
  const isOther = page.idsMayRepeat === true && hasOneId(page.ids ?? '') && !isSame;
  const isEnd = beyondEnd === 'repeated' || (isShort && kind === 'page' && !isOther);
  // If all there is are first pages, the platform may ignore the parameter. Confirmation finds that.
  const isPaged = previous !== first || (beyondEnd === 'repeated' && mayRepeat(list));
  return isRepeated && isPaged && isEnd ? undefined : page;
}

/** The first page shows the size that the platform really serves. All must agree on the total and, except for the last, be full. */
async function* knownTotalPages<P extends PageSummary>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: OffsetPagination | NumberPagination,
): AsyncGenerator<P> {
  const total = totalOf(first, pagination);
  const size = first.count;
  if (size > total || (size === 0 && total > 0)) {
    throw incompleteListError(
      `the first page has ${size} items, but the total is ${total}: check ${totalKey(pagination)}`,
    );
  }
  const toCheck = `check ${totalKey(pagination)}, pagination.sizeParam and pagination.${pagination.kind}Param`;
  const pages = size === total ? 1 : Math.ceil(total / size);
  checkBounds(list, { items: total, pages });
  yield first;
  yield* inOrder(pages - 1, pagination.concurrency, signal, async (each, pageSignal) => {
    const index = each + 1;
    const page = await fetch(pageAddress(list, parametersOf(pagination, index, index * size)), pageSignal);
    const stated = totalOf(page, pagination);
    if (stated !== total) {
      throw incompleteListError(
        `the total changed while the list was read: ${total} on page 1, ${stated} on page ${index + 1}: check ${totalKey(pagination)}`,
      );
    }
    const due = Math.min(size, total - index * size);
    if (page.count !== due) {
      throw incompleteListError(
        `page ${index + 1} has ${page.count} items instead of ${due}, since the total is ${total} and page 1 has ${size}: ${toCheck}`,
      );
    }
    return page;
  });
}

/** Checks bounds and repeated items before each page, and after the last one whether there are more. A list may have grown. */
async function* checked<P extends PageSummary>(
  read: ListRead<P>,
  pages: AsyncIterable<P> | Iterable<P>,
  confirm: (end: ListEnd) => Promise<void>,
): AsyncGenerator<P> {
  const { list, first } = read;
  // Some platforms state one page for an empty list.
  const progress: Progress = {
    items: 0,
    pages: 1,
    filled: 0,
    lastPageCount: 0,
    lastPageIds: '',
    least: {},
    last: first,
  };
  const checkRepeats = createRepeatCheck();
  const size = sizeAsked(list);
  let all = 0;
  let ids = '';
  for await (const page of pages) {
    all += 1;
    progress.items += page.count;
    progress.last = page;
    checkBounds(list, { items: progress.items });
    await checkRepeats(page);
    if (page.count > 0) {
      progress.pages = all;
      progress.filled += 1;
      progress.lastPageCount = page.count;
      progress.lastPageIds = ids + (page.ids ?? '');
      ids = page.ids ?? '';
    }
    keepLeast(progress.least, 'total', page, size);
    keepLeast(progress.least, 'pages', page, size);
    yield page;
  }
  checkTotal(read, progress);
  const { ignoreSigns = [] } = list.pagination;
  const sign = signOf(read, progress, (each) => !ignoreSigns.includes(each));
  if (sign !== undefined) throw moreItemsError(...sign);
  await confirm({ ...progress, list, first });
}

/** A repeated item shows a repeated page, or a list that changed while it was read, so that items may be missing. */
function createRepeatCheck(): (page: PageSummary) => Promise<void> {
  const seen = new Set<string>();
  const pages = new Set<string>();
  return async ({ digests = '', ids = '', idsMayRepeat = false }) => {
    if (digests === '') return;
    // Items of one page may be equal: all are compared with earlier pages before the first is added.
    for await (const some of inSteps(digests)) {
      if (some.some((digest) => seen.has(digest)))
        throw incompleteListError('a page repeats an item of an earlier page');
    }
    // Items may differ from reply to reply, as by a signed URL. Where ids may repeat, one id can fill several pages.
    const page = textDigestsOf([ids]);
    if (pages.has(page) && !(idsMayRepeat && hasOneId(ids)))
      throw incompleteListError('a page repeats the ids of an earlier page');
    pages.add(page);
    for await (const some of inSteps(digests)) for (const digest of some) seen.add(digest);
  };
}

/** Keeps the least figure. Of several on one page, that of a filter counts, else the greatest: others may be its own. */
function keepLeast(
  least: Progress['least'],
  sign: 'total' | 'pages',
  { statements, count }: PageSummary,
  size: number | undefined,
): void {
  // A figure up to the length of the page may be that length.
  const floor = sign === 'total' ? count : 0;
  const all = statements.filter((each) => each.sign === sign);
  const filtered = all.filter(({ isFiltered }) => isFiltered);
  // A size may be what was asked for, or explained by a total beside it.
  const totals = all.filter(({ isSize, stated }) => !isSize || (stated !== size && all.every((each) => each.isSize)));
  const [most] = (filtered.length > 0 ? filtered : totals)
    .filter(({ isCount, stated }) => Number(stated) > floor && !(sign === 'pages' && isCount && stated === count))
    .toSorted((a, b) => Number(b.stated) - Number(a.stated));
  const before = least[sign];
  if (most !== undefined && (before === undefined || most.stated < before.stated)) least[sign] = most;
}

function checkTotal<P extends PageSummary>({ list, first }: ListRead<P>, { items, last }: Progress): void {
  const { pagination } = list;
  if (!namesTotal(pagination) || pagination.kind === 'offset' || pagination.kind === 'page') return;
  const total = totalOf(first, pagination);
  if (items < total && items < (last === first ? total : totalOf(last, pagination))) {
    throw incompleteListError(
      `${items} of ${total} items were received: check pagination.kind and its keys, and ${totalKey(pagination)}`,
    );
  }
}

function signOf<P extends PageSummary>(
  { list, first }: ListRead<P>,
  { items, pages, filled, least, last }: Progress,
  counts: (sign: Sign) => boolean,
): [Sign, string] | undefined {
  const { total, pages: pageCount } = least;
  if (counts('total') && total !== undefined && Number(total.stated) > items) {
    return ['total', `${total.name} is ${total.stated}; items received: ${items}`];
  }
  if (counts('pages') && pageCount !== undefined && Number(pageCount.stated) > pages) {
    return ['pages', `${pageCount.name} is ${pageCount.stated}; pages received: ${pages}`];
  }
  const byNumber = list.pagination.kind === 'offset' || list.pagination.kind === 'page';
  // If only the first page has items, an empty one behind it may mean that the platform does not understand the request.
  // A link or token that was followed may lead to one: DynamoDB returns a key behind the last item.
  const flagging = filled === 1 ? first : last;
  const { statements } = byNumber ? flagging : last;
  const more = flagging.statements.find(({ sign, stated }) => sign === 'more' && stated === true);
  if (counts('more') && more !== undefined) return ['more', more.name];
  // Some platforms always link to a next page, and show the end by a flag.
  const isEnded = statements.some(({ sign, stated }) => sign === 'more' && stated === false);
  const next = statements.find(({ sign, stated }) => sign === 'next' && stated === true);
  if (counts('next') && next !== undefined && !isEnded) return ['next', next.name];
  // Some platforms link back from the first page, too; one that was requested by number must be the first.
  const previous = first.statements.find(({ sign, stated }) => sign === 'previous' && stated === true);
  if (counts('previous') && byNumber && previous !== undefined) return ['previous', previous.name];
  return undefined;
}
