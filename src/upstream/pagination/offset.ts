import { knownTotalPages, namesTotal } from './known-total.ts';
import { type ListRead, pageUrl } from './list-read.ts';
import type { PageView } from './page-view.ts';
import { type OffsetPagination, sizeParameter } from './pagination.ts';

/**
 * Pages by the number of items to skip. Without a total, only an empty page ends the list: a short one may be what
 * the platform caps pages at.
 */
export async function* offsetPages<P extends PageView>(
  read: ListRead<P>,
  pagination: OffsetPagination,
): AsyncGenerator<P> {
  const { list, fetch, signal } = read;
  const urlAt = (offset: number) => pageUrl(list, { ...sizeParameter(pagination), [pagination.offsetParam]: offset });
  if (namesTotal(pagination)) {
    yield* knownTotalPages(read, pagination, (index, size) => urlAt(index * size));
    return;
  }
  let offset = 0;
  for (;;) {
    const page = await fetch(urlAt(offset), signal);
    yield page;
    if (page.items.length === 0) return;
    offset += page.items.length;
  }
}
