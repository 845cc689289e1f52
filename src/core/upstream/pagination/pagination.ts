import type { Sign } from '../signs/signs.ts';

/** Finds in the body what a page says of itself: a compiled expression. Throws `upstream_invalid` where it does not fit. */
export type PageExpression = (body: unknown) => unknown;

interface Told {
  /** Says how many items there are in all. Wins over `totalHeader`. */
  readonly total?: PageExpression | undefined;
  /** Header that says the same, in any case. */
  readonly totalHeader?: string | undefined;
  /** Signs of more that the platform shows although there is none. */
  readonly ignoreSigns?: readonly Sign[] | undefined;
}

interface Sized extends Told {
  /** Query parameter for the page size, or a pointer into the body; `null` sends none. So are those of the kinds. */
  readonly sizeParam: string | null;
  /** Items to ask for in one page. The platform may send fewer. */
  readonly size: number;
}

interface Concurrent extends Sized {
  /** Pages fetched at once, where the total is known. */
  readonly concurrency: number;
}

/** The whole list is one page. */
export interface NonePagination extends Told {
  readonly kind: 'none';
}

/** Each page names a token for the next one. */
export interface TokenPagination extends Sized {
  readonly kind: 'token';
  readonly tokenParam: string;
  readonly next: PageExpression;
}

/** Pages by the number of items to skip. */
export interface OffsetPagination extends Concurrent {
  readonly kind: 'offset';
  readonly offsetParam: string;
  /** Where the platform wants to be told the end of a page, too. */
  readonly endParam?: string | undefined;
}

/** Pages by number. */
export interface NumberPagination extends Concurrent {
  readonly kind: 'page';
  readonly pageParam: string;
  readonly firstPage: number;
}

/** Each page links to the next one. */
export interface LinkPagination extends Sized {
  readonly kind: 'link';
  /** Finds the next URL in the body; without it the `Link` header says it. */
  readonly next?: PageExpression | undefined;
}

/** How a list is spread over pages: what settings say, their expressions compiled. */
export type Pagination = NonePagination | TokenPagination | OffsetPagination | NumberPagination | LinkPagination;

/** What asks for pages of a size, where there is such a parameter. */
export function sizeParameter({ sizeParam, size }: Sized): Record<string, string | number> {
  return sizeParam === null ? {} : { [sizeParam]: size };
}

/** What asks for the page that begins behind `offset` items. */
export function offsetParameters(pagination: OffsetPagination, offset: number): Record<string, string | number> {
  const { offsetParam, endParam, size } = pagination;
  return {
    ...sizeParameter(pagination),
    [offsetParam]: offset,
    ...(endParam !== undefined && { [endParam]: offset + size }),
  };
}

/** Whether settings say where a page tells the total. */
export function namesTotal({ total, totalHeader }: Told): boolean {
  return total !== undefined || totalHeader !== undefined;
}
