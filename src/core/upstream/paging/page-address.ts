import type { Sign } from '../hints/words.ts';
import type { Post } from '../upstream.ts';

/** A compiled expression on the body of a page. Throws `upstream_invalid` if it does not fit. */
export type PageExpression = (body: unknown) => unknown;

interface Totalled {
  /** Wins over `totalHeader`. */
  readonly total?: PageExpression | undefined;
  /** Name in any case. */
  readonly totalHeader?: string | undefined;
  readonly ignoreSigns?: readonly Sign[] | undefined;
}

interface Sized extends Totalled {
  /** Query parameter, or a pointer into the body, like all parameters here; `null` sends none. */
  readonly sizeParam: string | null;
  /** The platform may send fewer. */
  readonly size: number;
}

interface Concurrent extends Sized {
  readonly concurrency: number;
  /** The reply that ends a list behind a full last page. @default 'empty' */
  readonly beyondEnd?: 'empty' | 'refused' | 'repeated' | undefined;
}

/** The whole list is one page. */
interface NonePagination extends Totalled {
  readonly kind: 'none';
}

/** Each page has a token for the next one. */
export interface TokenPagination extends Sized {
  readonly kind: 'token';
  readonly tokenParam: string;
  readonly next: PageExpression;
  /** Response header with the token. Wins over `next`. */
  readonly nextHeader?: string | undefined;
}

/** Pages by the number of items to skip. */
export interface OffsetPagination extends Concurrent {
  readonly kind: 'offset';
  readonly offsetParam: string;
  /** End of a page, if the platform needs one. */
  readonly endParam?: string | undefined;
}

export interface NumberPagination extends Concurrent {
  readonly kind: 'page';
  readonly pageParam: string;
  readonly firstPage: number;
}

/** Each page links to the next one. */
export interface LinkPagination extends Sized {
  readonly kind: 'link';
  /** @default the `Link` header */
  readonly next?: PageExpression | undefined;
  /** Response header with the URL. Wins over `next`. */
  readonly nextHeader?: string | undefined;
}

/** How a list is paged: settings with their expressions compiled. */
export type Pagination = NonePagination | TokenPagination | OffsetPagination | NumberPagination | LinkPagination;

export function sizeParameter({ sizeParam, size }: Sized): Record<string, string | number> {
  return sizeParam === null ? {} : { [sizeParam]: size };
}

/** Parameters of the page that begins after `offset` items. */
export function offsetParameters(pagination: OffsetPagination, offset: number): Record<string, string | number> {
  const { offsetParam, endParam, size } = pagination;
  return {
    ...sizeParameter(pagination),
    [offsetParam]: offset,
    ...(endParam !== undefined && { [endParam]: offset + size }),
  };
}

/** Parameters of the page that `index` others come before. */
export function numberParameters(pagination: NumberPagination, index: number): Record<string, string | number> {
  return { ...sizeParameter(pagination), [pagination.pageParam]: pagination.firstPage + index };
}

export function namesTotal({ total, totalHeader }: Totalled): boolean {
  return total !== undefined || totalHeader !== undefined;
}

/** Values by the name of a query parameter or by a pointer into the body (RFC 6901). */
type Parameters = Readonly<Record<string, string | number>>;

export interface ListPost {
  /** JSON with values at the places of their pointers; `undefined`: no body is sent. */
  readonly body: ((places: Parameters) => string) | undefined;
  /** Settings say that it changes nothing. */
  readonly isRepeatable: boolean;
}

export interface ListAddress {
  readonly baseUrl: string;
  /** Below the prefix; begins with a slash. */
  readonly path: string;
  /** Query in this order; an array sends its parameter once for each element. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly post?: ListPost | undefined;
  readonly pagination: Pagination;
}

export interface PageAddress {
  readonly url: URL;
  readonly post?: Post | undefined;
}

const firstAddresses = new WeakMap<ListAddress, PageAddress>();

/** The first page. Made once for all reads: do not change it. */
export function firstAddress(list: ListAddress): PageAddress {
  const made = firstAddresses.get(list) ?? firstAddressOf(list, list.pagination);
  firstAddresses.set(list, made);
  return made;
}

/** A first page of another size, if `pagination` has one. */
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
      return numberParameters(pagination, 0);
  }
}

/** Builds the address of a page. Spaces become `%20`, since `+` means a space in forms only (RFC 3986, section 2.1). */
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
