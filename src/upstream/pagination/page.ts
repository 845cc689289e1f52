import { invalid } from './invalid.ts';
import { knownTotalPages, namesTotal } from './known-total.ts';
import { type ListRead, pageUrl } from './list-read.ts';
import type { PageView } from './page-view.ts';
import { type NumberPagination, sizeParameter } from './pagination.ts';

/**
 * Pages by number. Without a total, only an empty page ends the list: a short one may be what the platform caps
 * pages at. But then all are as long as the first, up to the last one: another length means that items are missing.
 */
export async function* numberedPages<P extends PageView>(
  read: ListRead<P>,
  pagination: NumberPagination,
): AsyncGenerator<P> {
  const { list, fetch, signal } = read;
  const urlOf = (index: number) =>
    pageUrl(list, { ...sizeParameter(pagination), [pagination.pageParam]: pagination.firstPage + index });
  if (namesTotal(pagination)) {
    yield* knownTotalPages(read, pagination, urlOf);
    return;
  }
  let full = Number.POSITIVE_INFINITY;
  let previous = full;
  for (let index = 0; previous > 0; index += 1) {
    const page = await fetch(urlOf(index), signal);
    const count = page.items.length;
    if (count > full || (count > 0 && previous < full)) throw invalid('a page before the last is not full');
    yield page;
    if (index === 0) full = count;
    previous = count;
  }
}
