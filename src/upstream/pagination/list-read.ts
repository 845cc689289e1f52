import type { PageView } from './page-view.ts';
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

/** One read of a list, as each kind of pagination sees it. */
export interface ListRead<P extends PageView> {
  readonly list: ListRequest;
  fetch(url: URL, signal: AbortSignal): Promise<P>;
  readonly signal: AbortSignal;
}

const firstUrls = new WeakMap<ListRequest, URL>();

/** The URL of the first page, where it takes no number: made once, since all reads begin there, and not to be changed. */
export function firstUrl(list: ListRequest): URL {
  const { pagination } = list;
  const made = firstUrls.get(list) ?? pageUrl(list, pagination.kind === 'none' ? {} : sizeParameter(pagination));
  firstUrls.set(list, made);
  return made;
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
