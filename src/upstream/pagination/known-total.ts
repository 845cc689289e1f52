import { inOrder } from './in-order.ts';
import { invalid } from './invalid.ts';
import { checkLimits } from './limits.ts';
import type { ListRead } from './list-read.ts';
import type { PageView } from './page-view.ts';
import type { NumberPagination, OffsetPagination } from './pagination.ts';

type Totalled = OffsetPagination | NumberPagination;

/** Whether settings say where a page tells the total. */
export function namesTotal({ total, totalHeader }: Totalled): boolean {
  return total !== undefined || totalHeader !== undefined;
}

/**
 * The pages of a list whose pages say how many items there are. The first one tells the total and, by its length,
 * the size that the platform really serves; the others are fetched several at once and come out in order. All must
 * agree on the total and, but for the last, be full, so that the sum is the total.
 */
export async function* knownTotalPages<P extends PageView>(
  { list, fetch, signal }: ListRead<P>,
  pagination: Totalled,
  urlOf: (index: number, size: number) => URL,
): AsyncGenerator<P> {
  const first = await fetch(urlOf(0, 0), signal);
  const total = totalOf(first, pagination);
  const size = first.items.length;
  if (size > total || (size === 0 && total > 0)) throw invalid('the first page does not fit the total');
  const count = size === total ? 1 : Math.ceil(total / size);
  checkLimits(list, total, count);
  yield first;
  yield* inOrder(count - 1, pagination.concurrency, signal, async (each, pageSignal) => {
    const index = each + 1;
    const page = await fetch(urlOf(index, size), pageSignal);
    if (totalOf(page, pagination) !== total) throw invalid('the total changed while the list was read');
    const due = Math.min(size, total - index * size);
    if (page.items.length !== due) throw invalid('the pages do not add up to the total');
    return page;
  });
}

function totalOf(page: PageView, { total, totalHeader = '' }: Totalled): number {
  const value = total === undefined ? page.headers[totalHeader.toLowerCase()] : total(page.body);
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw invalid('the page does not say the total');
  }
  return number;
}
