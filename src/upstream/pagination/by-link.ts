import LinkHeader from 'http-link-header';
import type { ReplyHeaders } from '../upstream.ts';
import { firstUrl, incomplete, type ListRead, type PageView } from './list-read.ts';
import type { LinkPagination } from './pagination.ts';
import { createSeen } from './repeats.ts';

/** Pages that each link to the next one (RFC 8288), until one links to none. A link may be relative. */
export async function* linkedPages<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  pagination: LinkPagination,
): AsyncGenerator<P> {
  let url = firstUrl(list);
  const seen = createSeen();
  seen.add(url.href);
  for (let page = first; ; ) {
    yield page;
    const link = nextLink(page, pagination);
    if (link === undefined) return;
    url = resolve(link, url);
    if (!seen.add(url.href)) throw incomplete('a page links to an earlier one: the pages loop');
    page = await fetch(url, signal);
  }
}

function nextLink(page: PageView, { next }: LinkPagination): string | undefined {
  if (next === undefined) return linkTo('next', page.headers.link);
  const link = next(page.body);
  if (link === undefined || link === null || link === '') return undefined;
  if (typeof link !== 'string') throw incomplete('the next page link is not text');
  return link;
}

function resolve(link: string, current: URL): URL {
  const url = URL.parse(link, current);
  if (url === null) throw incomplete('the next page link is no URL');
  // Not by `origin`: that of a blob: URL is the one of the URL inside it.
  if (url.protocol !== current.protocol || url.host !== current.host) {
    throw incomplete('the next page link leads elsewhere: a credential goes to its configured origin only');
  }
  if (url.username !== '' || url.password !== '') throw incomplete('the next page link holds a user or a password');
  url.hash = '';
  return url;
}

/** A parameter name of a link (RFC 8288, section 3). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The target of the one link with relation `rel` in a `Link` header, as written; `undefined` where there is none. */
export function linkTo(rel: string, field: ReplyHeaders[string]): string | undefined {
  if (field === undefined) return undefined;
  // The parser trips over space before a comma, and is quadratic in runs of space.
  const text = [field]
    .flat()
    .join(',')
    .replace(/[ \t]+/g, ' ')
    .replaceAll(' ,', ',');
  const links = parse(text);
  if (!isBalanced(text) || !links.every(isWhole)) throw malformed();
  const targets = new Set(links.filter((link) => link.rel?.toLowerCase() === rel).map((link) => link.uri));
  if (targets.size > 1) throw incomplete(`the Link header names several ${rel} pages`);
  return targets.values().next().value;
}

function parse(text: string): LinkHeader.Reference[] {
  try {
    return LinkHeader.parse(text).refs;
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Whether every quote and bracket is in its place. The parser lets a stray one swallow what follows, a `rel` perhaps. */
function isBalanced(text: string): boolean {
  return !/["<>]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/(^|,) ?<[^<>]*>/g, ''));
}

/** Whether the parser read the link as it stands: it takes a parameter without a value and the next for one name. */
function isWhole(link: LinkHeader.Reference): boolean {
  return typeof link.uri === 'string' && Object.keys(link).every((name) => TOKEN.test(name));
}

function malformed(cause?: unknown): Error {
  return incomplete('the Link header is malformed', cause);
}
