import { withAbort } from '../../kernel/deadline.ts';
import { checkBounds, incomplete, type ListRead, type PageView, totalKey, totalOf } from './list-read.ts';
import {
  type NumberPagination,
  namesTotal,
  numberParameters,
  type OffsetPagination,
  offsetParameters,
  type PageAddress,
  pageAddress,
} from './page-address.ts';

/**
 * Pages by the number of items to skip. Without a total, only an empty page ends the list: the platform may cap the size of
 * pages.
 */
export async function* offsetPages<P extends PageView>(
  read: ListRead<P>,
  pagination: OffsetPagination,
): AsyncGenerator<P> {
  const { list, first, fetch, signal } = read;
  const pageAt = (offset: number) => pageAddress(list, offsetParameters(pagination, offset));
  if (namesTotal(pagination)) {
    yield* knownTotalPages(read, pagination, (index, size) => pageAt(index * size));
    return;
  }
  let offset = 0;
  for (let page = first; ; page = await fetch(pageAt(offset), signal)) {
    yield page;
    if (page.count === 0) return;
    offset += page.count;
  }
}

/**
 * Pages by number. Without a total, only an empty page ends the list: the platform may cap the size of pages. But then all are
 * as long as the first, up to the last: another length means that items are missing.
 */
export async function* numberedPages<P extends PageView>(
  read: ListRead<P>,
  pagination: NumberPagination,
): AsyncGenerator<P> {
  const { list, first, fetch, signal } = read;
  const pageOf = (index: number) => pageAddress(list, numberParameters(pagination, index));
  if (namesTotal(pagination)) {
    yield* knownTotalPages(read, pagination, pageOf);
    return;
  }
  yield first;
  const full = first.count;
  let previous = full;
  for (let index = 1; previous > 0; index += 1) {
    const page = await fetch(pageOf(index), signal);
    const count = page.count;
    if (count > full || (count > 0 && previous < full)) {
      throw incomplete(
        `a page before the last is not full: the first has ${full} items, page ${index} has ${previous} and page ${index + 1} has ${count}: check pagination.pageParam and pagination.sizeParam`,
      );
    }
    yield page;
    previous = count;
  }
}

/**
 * The pages of a list with a total. The first one has the total and shows the size that the platform really serves; the others
 * are fetched concurrently and yielded in order. All must agree on the total and, except for the last, be full.
 */
async function* knownTotalPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: OffsetPagination | NumberPagination,
  pageOf: (index: number, size: number) => PageAddress,
): AsyncGenerator<P> {
  const total = totalOf(first, pagination);
  const size = first.count;
  if (size > total || (size === 0 && total > 0)) {
    throw incomplete(`the first page has ${size} items, and the total says ${total}: check ${totalKey(pagination)}`);
  }
  const toCheck = `check ${totalKey(pagination)}, pagination.sizeParam and pagination.${pagination.kind}Param`;
  const pages = size === total ? 1 : Math.ceil(total / size);
  checkBounds(list, { items: total, pages });
  yield first;
  yield* inOrder(pages - 1, pagination.concurrency, signal, async (each, pageSignal) => {
    const index = each + 1;
    const page = await fetch(pageOf(index, size), pageSignal);
    const stated = totalOf(page, pagination);
    if (stated !== total) {
      throw incomplete(
        `the total changed while the list was read: page 1 says ${total}, and page ${index + 1} says ${stated}: check ${totalKey(pagination)}`,
      );
    }
    const due = Math.min(size, total - index * size);
    if (page.count !== due) {
      throw incomplete(
        `page ${index + 1} has ${page.count} items where ${due} are due, since the total says ${total} and page 1 has ${size}: ${toCheck}`,
      );
    }
    return page;
  });
}

/** Made once: an `abort()` without a reason captures a stack. */
const NOT_NEEDED = new Error('the page is not needed');

/**
 * Runs `work` for 0 up to `count`, at most `concurrency` at once, and yields the results in order. The first failure ends all
 * others and the whole at once; so do `signal` and a consumer that returns early.
 */
export async function* inOrder<T>(
  count: number,
  concurrency: number,
  signal: AbortSignal,
  work: (index: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  signal.throwIfAborted();
  if (count === 0) return;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const start = (index: number) => {
    const result = withAbort(controller.signal, () => work(index, controller.signal));
    result.catch((error) => controller.abort(error));
    return result;
  };
  const ahead: Promise<T>[] = [];
  let next = 0;
  try {
    for (;;) {
      for (; next < count && ahead.length < concurrency; next += 1) ahead.push(start(next));
      const result = ahead.shift();
      if (result === undefined) return;
      yield await result;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    controller.abort(NOT_NEEDED);
  }
}
