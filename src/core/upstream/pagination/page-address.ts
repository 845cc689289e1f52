import type { Post } from '../upstream.ts';
import { offsetParameters, type Pagination, sizeParameter } from './pagination.ts';

/** What a page is asked for with, by the name of a query parameter or a pointer into the body (RFC 6901). */
export type Parameters = Readonly<Record<string, string | number>>;

/** How a list is asked for where the platform wants a POST. */
export interface ListPost {
  /** JSON of the body, with values in the places that their pointers lead to; `undefined` where there is no body. */
  readonly body: ((places: Parameters) => string) | undefined;
  /** Whether it may be sent twice: settings say that it changes nothing. */
  readonly isRepeatable: boolean;
}

/** Where a list is. */
export interface ListAddress {
  /** Origin and path prefix. */
  readonly baseUrl: string;
  /** Below the prefix; begins with a slash. */
  readonly path: string;
  /** Sent with every page, in this order; a list sends its parameter once for each element. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** `undefined`: it is got with a GET, and no parameter is a pointer. */
  readonly post?: ListPost | undefined;
  readonly pagination: Pagination;
}

/** Where a page is, and how it is asked for. */
export interface PageAddress {
  readonly url: URL;
  readonly post?: Post | undefined;
}

const firstAddresses = new WeakMap<ListAddress, PageAddress>();

/** The first page: made once, since all reads begin there, and not to be changed. */
export function firstAddress(list: ListAddress): PageAddress {
  const made = firstAddresses.get(list) ?? firstAddressOf(list, list.pagination);
  firstAddresses.set(list, made);
  return made;
}

/** A first page of another size. */
export function firstAddressOf(list: ListAddress, pagination: Pagination): PageAddress {
  return pageAddress(list, firstParameters(pagination));
}

function firstParameters(pagination: Pagination): Parameters {
  switch (pagination.kind) {
    case 'none':
      return {};
    case 'token':
    case 'link':
      return sizeParameter(pagination);
    case 'offset':
      return offsetParameters(pagination, 0);
    case 'page':
      return { ...sizeParameter(pagination), [pagination.pageParam]: pagination.firstPage };
  }
}

/**
 * A page: path prefix, path and query in order, with `parameters` set there or in the body. Spaces become `%20`, which every
 * server reads, and not `+`, which means a space in forms only (RFC 3986, section 2.1).
 */
export function pageAddress(list: ListAddress, parameters: Parameters): PageAddress {
  const { post } = list;
  const url = new URL(list.baseUrl);
  url.pathname = url.pathname.replace(/\/$/, '') + list.path;
  const search = new URLSearchParams(
    Object.entries(list.query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  );
  const places: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (post !== undefined && name.startsWith('/')) places[name] = value;
    else search.set(name, String(value));
  }
  url.search = search.toString().replaceAll('+', '%20');
  return { url, post: post && { body: post.body?.(places), isRepeatable: post.isRepeatable } };
}
