import type { PageTarget } from '../upstream.ts';
import { linkedPages, tokenPages } from './by-next.ts';
import { numberedPages, offsetPages } from './by-number.ts';
import { guarded } from './guard.ts';
import { checkBounds, type ListRead, type ListRequest, type PageView } from './list-read.ts';
import { firstAddress, type PageAddress } from './page-address.ts';

export type { ListRequest, PageView } from './list-read.ts';

/** The target of the first page of a list. */
export function firstTarget(list: ListRequest): PageTarget {
  return targetOf(firstAddress(list));
}

/**
 * Yields all pages of a list in order: `first`, which was fetched from {@link firstTarget}, then the others. Rejects with
 * `upstream_invalid` if they loop, repeat, do not add up, exceed a bound or state that there are more, and with what `fetchPage`
 * rejects with. The list is complete once the last page was yielded. The signal of `fetchPage` aborts with `signal`, and once
 * its page is not needed any more.
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
  // A read makes at most four of these, which are not counted in `maxPages`.
  const test = (address: PageAddress, testSignal: AbortSignal) => fetchPage(targetOf(address), testSignal);
  const read = { list, first, fetch, test, signal };
  return guarded(read, pagesOf(read));
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

function targetOf({ url, post }: PageAddress): PageTarget {
  return { target: url.pathname + url.search, post };
}
