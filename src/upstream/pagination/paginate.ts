import { withItemLimit, withPageLimit } from './limits.ts';
import { linkedPages } from './link.ts';
import type { ListRead, ListRequest } from './list-read.ts';
import { onePage } from './none.ts';
import { offsetPages } from './offset.ts';
import { numberedPages } from './page.ts';
import type { PageView } from './page-view.ts';
import { withoutRepeats } from './repeats.ts';
import { tokenPages } from './token.ts';

export type { ListRequest } from './list-read.ts';
export type { PageView } from './page-view.ts';

/**
 * All pages of a list, in order. Throws `upstream_invalid` where they loop, repeat, do not add up or break a limit,
 * so that a list is complete once the last page came; and whatever `fetchPage` rejects with. Its `target` is an
 * absolute path with query. Its signal aborts with `signal`, and once its page is no longer wanted.
 */
export function paginate<P extends PageView>(
  list: ListRequest,
  fetchPage: (target: string, signal: AbortSignal) => Promise<P>,
  signal: AbortSignal,
): AsyncGenerator<P> {
  const fetch = withPageLimit(list, (url: URL, pageSignal: AbortSignal) =>
    fetchPage(url.pathname + url.search, pageSignal),
  );
  return withoutRepeats(withItemLimit(list, pagesOf({ list, fetch, signal })));
}

function pagesOf<P extends PageView>(read: ListRead<P>): AsyncGenerator<P> {
  const { pagination } = read.list;
  switch (pagination.kind) {
    case 'none':
      return onePage(read);
    case 'token':
      return tokenPages(read, pagination);
    case 'offset':
      return offsetPages(read, pagination);
    case 'page':
      return numberedPages(read, pagination);
    case 'link':
      return linkedPages(read, pagination);
  }
}
