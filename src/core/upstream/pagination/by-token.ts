import { doubted, incomplete } from './incomplete.ts';
import { checkNext, isNone, type ListRead, mayRepeat, type PageView, saysTotal } from './list-read.ts';
import { pageAddress } from './page-address.ts';
import { sizeParameter, type TokenPagination } from './pagination.ts';
import { createSeen } from './repeats.ts';

/**
 * Pages that each name a token for the next one, until one names none. An empty page with a token is not the last
 * (AIP-158). A token that comes again would go on for ever, and is an error.
 */
export async function* tokenPages<P extends PageView>(
  read: ListRead<P>,
  pagination: TokenPagination,
): AsyncGenerator<P> {
  const { list, first, fetch, signal } = read;
  const size = sizeParameter(pagination);
  const seen = createSeen();
  let pages = 0;
  let behind = 0;
  for (let page = first; ; ) {
    yield page;
    pages += 1;
    if (page !== first) behind += page.count;
    const token = nextToken(page.next);
    if (token === undefined) {
      if (pages > 1 && behind === 0) await testToken(read, pagination);
      return;
    }
    checkNext(list, String(token));
    if (!seen.add(String(token))) {
      throw incomplete(
        `page ${pages} names the token that an earlier page named: the pages loop: check pagination.tokenParam and pagination.next`,
      );
    }
    page = await fetch(pageAddress(list, { ...size, [pagination.tokenParam]: token }), signal);
  }
}

/**
 * Behind the first page, the tokens led to no items: the list may end there (DynamoDB names a key behind the last item),
 * or the platform does not understand what it is sent. So the first page is requested shorter by one, and its token has to
 * bring an item. Of a page of one item, two are requested. Where the platform ignores the size, nothing is shown.
 */
async function testToken<P extends PageView>(read: ListRead<P>, pagination: TokenPagination): Promise<void> {
  const { list, first, test, signal } = read;
  const { sizeParam, tokenParam, ignoreSigns = [] } = pagination;
  if (sizeParam === null || !mayRepeat(list) || ignoreSigns.includes('fullPage')) return;
  if (first.count === 0 || saysTotal(first, first.count)) return;
  const size = { [sizeParam]: first.count === 1 ? 2 : first.count - 1 };
  const other = await test(pageAddress(list, size), signal);
  const token = nextToken(other.next);
  const rest =
    other.count < first.count && token !== undefined
      ? await test(pageAddress(list, { ...size, [tokenParam]: token }), signal)
      : undefined;
  if (other.count === 0 || (other.count <= first.count && rest?.count !== 0)) return;
  throw doubted(
    `the token of a first page of ${first.count} items leads to no others, but where ${size[sizeParam]} were requested, ${other.count} came, and ${rest?.count ?? 'more'} behind them`,
    'set pagination.next to where the page says its token, pagination.tokenParam to the parameter for it, or pagination.kind to how the platform pages',
  );
}

/** As the page has it: in a body, a number is sent as a number. */
function nextToken(value: unknown): string | number | undefined {
  if (isNone(value)) return undefined;
  // A number beyond this has lost digits in parsing, and would lead to another page.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'string') return value;
  throw incomplete('the next page token is neither text nor a whole number: check pagination.next');
}
