import type { PageTarget } from '../upstream.ts';
import { linkedPages } from './by-link.ts';
import { numberedPages, offsetPages } from './by-number.ts';
import { tokenPages } from './by-token.ts';
import { guarded } from './guard.ts';
import { checkBounds, type ListRead, type ListRequest, type PageView } from './list-read.ts';
import { firstAddress, type PageAddress } from './page-address.ts';
import { withoutRepeats } from './repeats.ts';

export type { ListRequest, PageView } from './list-read.ts';

/** What the first page of a list is asked for by. */
export function firstTarget(list: ListRequest): PageTarget {
  return targetOf(firstAddress(list));
}

/**
 * All pages of a list, in order: `first`, which was fetched from {@link firstTarget}, and then the others. Throws
 * `upstream_invalid` where they loop, repeat, do not add up, break a bound or say that there are more, so that a list is
 * complete once the last page came; and whatever `fetchPage` rejects with. Its signal aborts with `signal`, and once its page
 * is not needed any more.
 */
export function paginate<P extends PageView>(
  list: ListRequest,
  first: P,
  fetchPage: (target: PageTarget, signal: AbortSignal) => Promise<P>,
  signal: AbortSignal,
): AsyncGenerator<P> {
  let pages = 1;
  const fetch = async (address: PageAddress, pageSignal: AbortSignal): Promise<P> => {
    pages += 1;
    checkBounds(list, { pages });
    return fetchPage(targetOf(address), pageSignal);
  };
  // No read has more than two of these, so that they need no bound.
  const test = (address: PageAddress, testSignal: AbortSignal) => fetchPage(targetOf(address), testSignal);
  const read = { list, first, fetch, test, signal };
  return guarded(read, withoutRepeats(withinMaxItems(list, pagesOf(read))));
}

async function* pagesOf<P extends PageView>(read: ListRead<P>): AsyncGenerator<P> {
  const { pagination } = read.list;
  switch (pagination.kind) {
    case 'none':
      yield read.first;
      return;
    case 'token':
      yield* tokenPages(read, pagination);
      return;
    case 'offset':
      yield* offsetPages(read, pagination);
      return;
    case 'page':
      yield* numberedPages(read, pagination);
      return;
    case 'link':
      yield* linkedPages(read, pagination);
  }
}

/** The same pages, as long as they hold no more than `maxItems` items together. */
async function* withinMaxItems<P extends PageView>(list: ListRequest, pages: AsyncIterable<P>): AsyncGenerator<P> {
  let items = 0;
  for await (const page of pages) {
    items += page.count;
    checkBounds(list, { items });
    yield page;
  }
}

function targetOf({ url, post }: PageAddress): PageTarget {
  return { target: url.pathname + url.search, post };
}
