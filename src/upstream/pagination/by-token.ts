import { incomplete } from './incomplete.ts';
import { checkNext, isNone, type ListRead, type PageView, pageUrl } from './list-read.ts';
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
  for (let page = first; ; ) {
    yield page;
    const token = nextToken(page.next);
    if (token === undefined) return;
    checkNext(list, token);
    if (!seen.add(token)) throw incomplete('a page token came again: the pages loop');
    page = await fetch(pageUrl(list, { ...size, [pagination.tokenParam]: token }), signal);
  }
}

function nextToken(value: unknown): string | undefined {
  if (isNone(value)) return undefined;
  // A number beyond this has lost digits in parsing, and would lead to another page.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return value;
  throw incomplete('the next page token is neither text nor a whole number');
}
