import { incomplete } from './incomplete.ts';
import { checkNext, isNone, type ListRead, type PageView } from './list-read.ts';
import { pageAddress } from './page-address.ts';
import { sizeParameter, type TokenPagination } from './pagination.ts';
import { createSeen } from './repeats.ts';

/**
 * Pages that each name a token for the next one, until one names none. An empty page with a token is not the last
 * (AIP-158). A token that comes again would go on for ever, and is an error.
 */
export async function* tokenPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: TokenPagination,
): AsyncGenerator<P> {
  const size = sizeParameter(pagination);
  const seen = createSeen();
  let pages = 0;
  for (let page = first; ; ) {
    yield page;
    pages += 1;
    const token = nextToken(page.next);
    if (token === undefined) return;
    checkNext(list, String(token));
    if (!seen.add(String(token))) {
      throw incomplete(
        `page ${pages} names the token that an earlier page named: the pages loop: check pagination.tokenParam and pagination.next`,
      );
    }
    page = await fetch(pageAddress(list, { ...size, [pagination.tokenParam]: token }), signal);
  }
}

/** As the page has it: in a body, a number is sent as a number. */
function nextToken(value: unknown): string | number | undefined {
  if (isNone(value)) return undefined;
  // A number beyond this has lost digits in parsing, and would lead to another page.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'string') return value;
  throw incomplete('the next page token is neither text nor a whole number: check pagination.next');
}
