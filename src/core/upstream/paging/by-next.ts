import { linkTo } from '../hints/link-header.ts';
import {
  checkNext,
  incomplete,
  isByLinkHeader,
  isNone,
  type ListRead,
  type PageView,
  textDigestsOf,
} from './list-read.ts';
import { firstAddress, type LinkPagination, pageAddress, sizeParameter, type TokenPagination } from './page-address.ts';

/** An empty page with a token is not the last (AIP-158). A repeated token would never end. */
export async function* tokenPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: TokenPagination,
): AsyncGenerator<P> {
  const size = sizeParameter(pagination);
  const isNew = createIsNew();
  const checkEmpty = createEmptyCheck((page) => nextToken(page.next) !== undefined);
  let pages = 0;
  for (let page = first; ; ) {
    yield page;
    pages += 1;
    checkEmpty(page);
    const token = nextToken(page.next);
    if (token === undefined) return;
    checkNext(list, String(token));
    if (!isNew(String(token))) {
      throw incomplete(
        `page ${pages} has the token of an earlier page, so the pages loop: check pagination.tokenParam and pagination.next`,
      );
    }
    page = await fetch(pageAddress(list, { ...size, [pagination.tokenParam]: token }), signal);
  }
}

/** The token in the form that the page has it: in a body, a number is sent as a number. */
function nextToken(value: unknown): string | number | undefined {
  if (isNone(value)) return undefined;
  // A larger number has lost digits in parsing, and would lead to another page.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'string') return value;
  throw incomplete('the token of the next page is neither text nor a whole number: check pagination.next');
}

/** A link may be relative (RFC 8288). It is requested with GET also if the first page was posted. */
export async function* linkedPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: LinkPagination,
): AsyncGenerator<P> {
  let { url } = firstAddress(list);
  const isNew = createIsNew();
  isNew(url.href);
  const checkEmpty = createEmptyCheck((page) => nextLink(page, pagination) !== undefined);
  let pages = 0;
  for (let page = first; ; ) {
    yield page;
    checkEmpty(page);
    pages += 1;
    const link = nextLink(page, pagination);
    if (link === undefined) return;
    checkNext(list, link);
    const source = isByLinkHeader(pagination) ? 'its Link header' : 'pagination.next';
    const wrong = (what: string) => incomplete(`the link to page ${pages + 1} ${what}: check ${source}`);
    url = resolve(link, url, wrong);
    if (!isNew(url.href)) throw wrong('leads to an earlier one, so the pages loop');
    page = await fetch({ url }, signal);
  }
}

/** Returns the link as written; `undefined` on the last page. */
export function nextLink(page: PageView, pagination: LinkPagination): string | undefined {
  if (isByLinkHeader(pagination)) return linkTo('next', page.headers.link);
  const link = page.next;
  if (isNone(link)) return undefined;
  if (typeof link !== 'string') throw incomplete('the link to the next page is not text: check pagination.next');
  return link;
}

function resolve(link: string, current: URL, wrong: (what: string) => Error): URL {
  const url = URL.parse(link, current);
  if (url === null) throw wrong('is not a URL');
  // Not by `origin`: that of a blob: URL is the origin of the URL inside it.
  if (url.protocol !== current.protocol || url.host !== current.host) {
    throw wrong('has another origin, and credentials are sent to the configured origin only');
  }
  url.hash = '';
  return url;
}

/** Throws for the second of two empty pages in a row that lead on: such a list may never end. One is usual (AIP-158). */
function createEmptyCheck(leadsOn: (page: PageView) => boolean): (page: PageView) => void {
  let empty = 0;
  return (page) => {
    empty = page.count === 0 && page.counts?.overlooked === undefined && leadsOn(page) ? empty + 1 : 0;
    if (empty < 2) return;
    throw incomplete(
      'two pages in a row have no items and lead to a next one: check pagination.next and pagination.kind',
    );
  };
}

function createIsNew(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => {
    const before = seen.size;
    return seen.add(textDigestsOf([text])).size > before;
  };
}
