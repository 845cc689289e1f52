import { incomplete } from './incomplete.ts';
import { linkTo } from './link-header.ts';
import { checkNext, isNone, type ListRead, type PageView } from './list-read.ts';
import { firstAddress } from './page-address.ts';
import type { LinkPagination } from './pagination.ts';
import { createSeen } from './repeats.ts';

/**
 * Pages that each link to the next one (RFC 8288), until one links to none. A link may be relative. It is got with a GET,
 * as links are, also where the first page was posted: who names an address does not decide what is posted there.
 */
export async function* linkedPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: LinkPagination,
): AsyncGenerator<P> {
  let { url } = firstAddress(list);
  const seen = createSeen();
  seen.add(url.href);
  let pages = 0;
  for (let page = first; ; ) {
    yield page;
    pages += 1;
    const link = nextLink(page, pagination);
    if (link === undefined) return;
    checkNext(list, link);
    const source = pagination.next === undefined ? 'its Link header' : 'pagination.next';
    const wrong = (what: string) => incomplete(`the link to page ${pages + 1} ${what}: check ${source}`);
    url = resolve(link, url, wrong);
    if (!seen.add(url.href)) throw wrong('leads to an earlier one, so that the pages loop');
    page = await fetch({ url }, signal);
  }
}

/** The link to the next page, as the page has it; undefined on the last one. */
export function nextLink(page: PageView, { next }: LinkPagination): string | undefined {
  if (next === undefined) return linkTo('next', page.headers.link);
  const link = page.next;
  if (isNone(link)) return undefined;
  if (typeof link !== 'string') throw incomplete('the link to the next page is not text: check pagination.next');
  return link;
}

function resolve(link: string, current: URL, wrong: (what: string) => Error): URL {
  const url = URL.parse(link, current);
  if (url === null) throw wrong('is no URL');
  // Not by `origin`: that of a blob: URL is the one of the URL inside it.
  if (url.protocol !== current.protocol || url.host !== current.host) {
    throw wrong('leads elsewhere, and a credential goes to its configured origin only');
  }
  if (url.username !== '' || url.password !== '') throw wrong('holds a user or a password');
  url.hash = '';
  return url;
}
