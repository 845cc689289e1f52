import { digest } from './digest.ts';
import { invalid } from './invalid.ts';
import { firstUrl, type ListRead, pageUrl } from './list-read.ts';
import type { PageView } from './page-view.ts';
import { sizeParameter, type TokenPagination } from './pagination.ts';

/**
 * Pages that each name a token for the next one, until one names none. An empty page with a token is not the last
 * (AIP-158). A token that comes again would go on for ever, and is refused.
 */
export async function* tokenPages<P extends PageView>(
  { list, fetch, signal }: ListRead<P>,
  pagination: TokenPagination,
): AsyncGenerator<P> {
  const size = sizeParameter(pagination);
  const seen = new Set<string>();
  let url = firstUrl(list);
  for (;;) {
    const page = await fetch(url, signal);
    yield page;
    const token = nextToken(pagination.next(page.body));
    if (token === undefined) return;
    const mark = digest(token);
    if (seen.has(mark)) throw invalid('a page token came again: the pages loop');
    seen.add(mark);
    url = pageUrl(list, { ...size, [pagination.tokenParam]: token });
  }
}

function nextToken(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  // A number beyond this has lost digits in parsing, and would lead to another page.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return value;
  throw invalid('the next page token is neither text nor a whole number');
}
