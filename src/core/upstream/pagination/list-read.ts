import { COUNTS } from '../signs/signs.ts';
import { type Enclosing, type Statement, statementsOf } from '../signs/statements.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { beyond, incomplete } from './incomplete.ts';
import type { ListAddress, PageAddress } from './page-address.ts';
import type { Pagination } from './pagination.ts';

/** A list that an upstream serves, in pages. */
export interface ListRequest extends ListAddress {
  /** Sent with every page. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Items of one read; more is an error. */
  readonly maxItems: number;
  /** Pages of one read, an empty last one included; more is an error. */
  readonly maxPages: number;
  /** Longest token or link to a next page; a longer one is an error. */
  readonly maxNextBytes: number;
}

/**
 * What pagination knows of a page; whoever fetches it may put more into it. Not its body: parsed, that takes up to thirty
 * times its bytes, and pages wait for each other.
 */
export interface PageView {
  /** Elements of the list, before any is left out. */
  readonly count: number;
  readonly headers: ReplyHeaders;
  /** What it says of how the list goes on, whether settings read that or not. */
  readonly said: readonly Statement[];
  /** The token or link to the next page that its body holds, where settings say that it does. */
  readonly next?: unknown;
  /** How many items its body says that there are in all, where settings say that it does. */
  readonly total?: unknown;
  /** Digests of its items, as one text; absent where the page {@link isWhole the whole list} is. */
  readonly digests?: string | undefined;
  /** Marks of its documented ids, in the same form; absent where the page is the whole list. */
  readonly ids?: string | undefined;
}

/** A page, parsed. */
export interface RawPage {
  readonly body: unknown;
  readonly items: readonly unknown[];
  readonly enclosing: readonly Enclosing[];
  readonly headers: ReplyHeaders;
}

/** What a page says of itself and of the list. Throws `upstream_invalid` where its body does not fit the settings. */
export function viewOf(pagination: Pagination, { body, items, enclosing, headers }: RawPage): PageView {
  return {
    count: items.length,
    headers,
    said: statementsOf(enclosing, headers),
    next: 'next' in pagination ? pagination.next?.(body) : undefined,
    total: pagination.total?.(body),
  };
}

/** Whether a first page is certainly all of its list, so that no other is asked for. */
export function isWhole(pagination: Pagination, page: PageView): boolean {
  const { count, headers, next, total } = page;
  switch (pagination.kind) {
    case 'none':
      return true;
    case 'token':
      return isNone(next);
    case 'link':
      return pagination.next === undefined ? headers.link === undefined : isNone(next);
    case 'offset':
    case 'page':
      return count === 0 || (total === count && saysTotal(page, count));
  }
}

/** Whether a page says that there are `items` in all, and not by what may count its own. */
export function saysTotal({ said }: PageView, items: number): boolean {
  return said.some(({ sign, name, says }) => sign === 'total' && says === items && !COUNTS.includes(name));
}

/** Whether what a page holds in place of a token or link says that it is the last one. `hasMore && cursor` is false there. */
export function isNone(next: unknown): boolean {
  return next === undefined || next === null || next === '' || next === false;
}

/** One read of a list whose first page is there, as each kind of pagination sees it. */
export interface ListRead<P extends PageView> {
  readonly list: ListRequest;
  readonly first: P;
  fetch(address: PageAddress, signal: AbortSignal): Promise<P>;
  /** The same for a request that tests the end of the list, which is none of its pages. */
  test(address: PageAddress, signal: AbortSignal): Promise<P>;
  readonly signal: AbortSignal;
}

/** Whether the list may be requested once more: a POST may write, unless settings say that it changes nothing. */
export function mayRepeat({ post }: ListRequest): boolean {
  return post === undefined || post.isRepeatable;
}

/** The total that a page tells where settings say that it does. Throws `upstream_invalid` where it tells none. */
export function totalOf(page: PageView, pagination: Pagination): number {
  const { total, totalHeader = '' } = pagination;
  const value = total === undefined ? page.headers[totalHeader.toLowerCase()] : page.total;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw incomplete(
      `the page does not say the total: no whole number is where ${totalKey(pagination)} says: correct it`,
    );
  }
  return number;
}

/** The setting that says where the total is. */
export function totalKey({ total }: Pagination): string {
  return total === undefined ? 'pagination.totalHeader' : 'pagination.total';
}

/** Throws `upstream_invalid` where a read of so many items or pages would break a bound. */
export function checkBounds(
  { maxItems, maxPages }: ListRequest,
  { items = 0, pages = 0 }: { readonly items?: number; readonly pages?: number },
): void {
  if (items > maxItems) throw beyond('maxItems', `the list has more items than maxItems: ${maxItems}`);
  if (pages > maxPages) throw beyond('maxPages', `the list has more pages than maxPages: ${maxPages}`);
}

/**
 * Throws `upstream_invalid` for a token or link that is longer than it may be. Call it before anything else is done with
 * one: to put 2 MB into a URL takes half a second, and to send them is no use.
 */
export function checkNext({ maxNextBytes }: ListRequest, next: string): void {
  if (Buffer.byteLength(next) > maxNextBytes)
    throw beyond('maxNextBytes', `the token or link to the next page is longer than maxNextBytes: ${maxNextBytes}`);
}
