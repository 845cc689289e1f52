import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { type Pagination, sizeParameter } from './pagination.ts';

/** A list that an upstream serves, in pages. */
export interface ListRequest {
  /** Origin and path prefix. */
  readonly baseUrl: string;
  /** Below the prefix; begins with a slash. */
  readonly path: string;
  /** Sent with every page, in this order. */
  readonly query: Readonly<Record<string, string>>;
  readonly pagination: Pagination;
  /** Items of one read; more is an error. */
  readonly maxItems: number;
  /** Pages of one read, an empty last one included; more is an error. */
  readonly maxPages: number;
}

/** What pagination sees of a page; whoever fetches it may put more into it. */
export interface PageView {
  readonly body: unknown;
  /** The elements of the list, in order, before any is left out. */
  readonly items: readonly unknown[];
  readonly headers: ReplyHeaders;
  /**
   * The same items with the source text of each number that does not print as it was written; `undefined` where all do.
   * Without it, items that differ only beyond the precision of a double pass for the same.
   */
  exactItems?(): readonly unknown[] | undefined;
}

/** One read of a list whose first page is there, as each kind of pagination sees it. */
export interface ListRead<P extends PageView> {
  readonly list: ListRequest;
  readonly first: P;
  fetch(url: URL, signal: AbortSignal): Promise<P>;
  readonly signal: AbortSignal;
}

const firstUrls = new WeakMap<ListRequest, URL>();

/** The URL of the first page: made once, since all reads begin there, and not to be changed. */
export function firstUrl(list: ListRequest): URL {
  const made = firstUrls.get(list) ?? pageUrl(list, firstParameters(list.pagination));
  firstUrls.set(list, made);
  return made;
}

function firstParameters(pagination: Pagination): Record<string, string | number> {
  switch (pagination.kind) {
    case 'none':
      return {};
    case 'token':
    case 'link':
      return sizeParameter(pagination);
    case 'offset':
      return { ...sizeParameter(pagination), [pagination.offsetParam]: 0 };
    case 'page':
      return { ...sizeParameter(pagination), [pagination.pageParam]: pagination.firstPage };
  }
}

/**
 * The URL of a page: path prefix, path and query in order, with `parameters` set. Spaces become `%20`, which every
 * server reads, and not `+`, which means a space in forms only (RFC 3986, section 2.1).
 */
export function pageUrl(list: ListRequest, parameters: Readonly<Record<string, string | number>>): URL {
  const url = new URL(list.baseUrl);
  url.pathname = url.pathname.replace(/\/$/, '') + list.path;
  const search = new URLSearchParams(list.query);
  for (const [name, value] of Object.entries(parameters)) search.set(name, String(value));
  url.search = search.toString().replaceAll('+', '%20');
  return url;
}

/** Throws `upstream_invalid` where a read of so many items or pages would break a bound. */
export function checkBounds(
  { maxItems, maxPages }: ListRequest,
  { items = 0, pages = 0 }: { readonly items?: number; readonly pages?: number },
): void {
  if (items > maxItems) throw incomplete('the list has more items than maxItems');
  if (pages > maxPages) throw incomplete('the list has more pages than maxPages');
}

/** The error for pages from which the whole list cannot be built. `reason` is for the log. */
export function incomplete(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason, cause });
}
