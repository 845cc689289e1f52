import { linkTo } from '../hints/link-header.ts';
import {
  checkNext,
  incompleteListError,
  isByLinkHeader,
  isNone,
  type ListRead,
  type PageSummary,
  textDigestsOf,
} from './list-read.ts';
import { firstAddress, type LinkPagination, pageAddress, sizeParameter, type TokenPagination } from './page-address.ts';

type NextPagination = TokenPagination | LinkPagination;

/**
 * Follows the token or link of each page. Links may be relative (RFC 8288), and are requested with GET also if the first page was
 * posted. A repeated token or link would never end.
 */
export async function* followedPages<P extends PageSummary>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: NextPagination,
): AsyncGenerator<P> {
  let { url } = firstAddress(list);
  const seen = new Set(pagination.kind === 'link' ? [textDigestsOf([url.href])] : []);
  let page = first;
  let empty = 0;
  for (let pages = 1; ; pages += 1) {
    yield page;
    const next = nextOf(page, pagination);
    if (next === undefined) return;
    // One empty page that leads on is usual (AIP-158). After two, such a list may never end.
    empty = page.count === 0 && page.counts?.overlooked === undefined ? empty + 1 : 0;
    if (empty === 2) throw wrong(pagination, 'two pages in a row have no items and lead to a next one');
    checkNext(list, String(next));
    if (pagination.kind === 'link') url = resolve(String(next), url, pagination);
    const digest = textDigestsOf([pagination.kind === 'link' ? url.href : String(next)]);
    if (seen.has(digest)) throw wrong(pagination, `page ${pages} leads to an earlier one, so the pages loop`);
    seen.add(digest);
    const address =
      pagination.kind === 'link'
        ? { url }
        : pageAddress(list, { ...sizeParameter(pagination), [pagination.tokenParam]: next });
    page = await fetch(address, signal);
  }
}

/** Returns the link as written, or the token in the form that the page has it; `undefined` on the last page. */
export function nextOf(page: PageSummary, pagination: NextPagination): string | number | undefined {
  if (pagination.kind === 'link' && isByLinkHeader(pagination)) return linkTo('next', page.headers.link);
  const { next } = page;
  if (isNone(next)) return undefined;
  if (pagination.kind === 'token' && /^(?:https?:\/)?\/.*\?/.test(String(next)))
    throw incompleteListError('the token of the next page is a URL: set pagination.kind: link');
  if (typeof next === 'string') return next;
  // In a body, a number is sent as a number. A larger one has lost digits in parsing, and would lead to another page.
  if (pagination.kind === 'token' && Number.isSafeInteger(next)) return next as number;
  throw wrong(pagination, `the ${pagination.kind} of the next page is neither text nor a whole number`);
}

function resolve(link: string, current: URL, pagination: LinkPagination): URL {
  const url = URL.parse(link, current);
  if (url === null) throw wrong(pagination, 'the link to the next page is not a URL');
  // Not by `origin`: that of a blob: URL is the origin of the URL inside it.
  if (url.protocol !== current.protocol || url.host !== current.host) {
    throw incompleteListError(
      'the link to the next page has another origin, and credentials are sent to that of baseUrl only: correct baseUrl, or set pagination.next to the path in the link, or pagination.kind to another one',
    );
  }
  url.hash = '';
  return url;
}

function wrong(pagination: NextPagination, what: string): Error {
  const byHeader = pagination.kind === 'link' && isByLinkHeader(pagination);
  const keys = pagination.kind === 'token' ? 'pagination.next and pagination.tokenParam' : 'pagination.next';
  return incompleteListError(`${what}: check ${byHeader ? 'the Link header' : keys}`);
}
