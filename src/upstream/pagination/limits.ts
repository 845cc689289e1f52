import { invalid } from './invalid.ts';
import type { ListRequest } from './list-read.ts';
import type { PageView } from './page-view.ts';

type Limits = Pick<ListRequest, 'maxItems' | 'maxPages'>;

/** Throws `upstream_invalid` where a read of so many items in so many pages would break a limit. */
export function checkLimits({ maxItems, maxPages }: Limits, items: number, pages: number): void {
  if (items > maxItems) throw invalid('the list has more items than maxItems');
  if (pages > maxPages) throw invalid('the list has more pages than maxPages');
}

/** `fetch` for at most `maxPages` pages. */
export function withPageLimit<Arguments extends unknown[], P>(
  limits: Limits,
  fetch: (...args: Arguments) => Promise<P>,
): (...args: Arguments) => Promise<P> {
  let pages = 0;
  return async (...args) => {
    pages += 1;
    checkLimits(limits, 0, pages);
    return fetch(...args);
  };
}

/** The same pages, as long as they hold no more than `maxItems` items together. */
export async function* withItemLimit<P extends PageView>(limits: Limits, pages: AsyncIterable<P>): AsyncGenerator<P> {
  let items = 0;
  for await (const page of pages) {
    items += page.items.length;
    checkLimits(limits, items, 0);
    yield page;
  }
}
