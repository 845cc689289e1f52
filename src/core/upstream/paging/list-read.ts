import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../kernel/errors.ts';
import { type Enclosing, leads, type Statement, statementsOf } from '../hints/statements.ts';
import type { Sign } from '../hints/words.ts';
import type { ReplyHeaders } from '../upstream.ts';
import type { LinkPagination, ListAddress, PageAddress, Pagination } from './page-address.ts';

/** A list that an upstream serves in pages. */
export interface ListRequest extends ListAddress {
  /** Sent with every page. Names in lower case. */
  readonly maxItems: number;
  readonly maxPages: number;
  readonly maxNextBytes: number;
}

/** Page without its parsed body: that takes up to thirty times its bytes, and pages wait for each other. */
export interface PageSummary {
  /** Number of items before any is left out. */
  readonly count: number;
  readonly headers: ReplyHeaders;
  /** About the rest of the list, whether settings use it or not. */
  readonly statements: readonly Statement[];
  readonly next?: unknown;
  readonly total?: unknown;
  /** `overlooked`: what a page without items has all the same. */
  readonly counts?: { readonly overlooked?: string | undefined };
  /** Digests of its items; absent if the page {@link isWhole is the whole list}. */
  readonly digests?: string | undefined;
  /** Whether settings allow items with the same id. @default false */
  readonly idsMayRepeat?: boolean;
  /** Digests of the ids of all its items, also of those that `where` leaves out; absent if the page is the whole list. */
  readonly ids?: string | undefined;
}

interface RawPage {
  readonly body: unknown;
  readonly items: readonly unknown[];
  readonly enclosing: readonly Enclosing[];
  readonly headers: ReplyHeaders;
}

/** Throws `upstream_invalid` if the body does not fit the settings. */
export function summarize(pagination: Pagination, { body, items, enclosing, headers }: RawPage): PageSummary {
  return {
    count: items.length,
    headers,
    statements: statementsOf(enclosing, headers, items.at(-1)),
    next: nextOf(pagination, body, headers),
    // A reply without a body, such as 204.
    total: body === null ? 0 : pagination.total?.(body),
  };
}

function nextOf(pagination: Pagination, body: unknown, headers: ReplyHeaders): unknown {
  if (pagination.kind !== 'token' && pagination.kind !== 'link') return undefined;
  const { next, nextHeader } = pagination;
  return nextHeader === undefined ? next?.(body) : headers[nextHeader.toLowerCase()];
}

/** Whether a first page is certainly the whole list, so that no other is requested. */
export function isWhole(pagination: Pagination, page: PageSummary): boolean {
  const { count, headers, next, total } = page;
  switch (pagination.kind) {
    case 'none':
      return true;
    case 'token':
      return isNone(next);
    case 'link':
      return isByLinkHeader(pagination) ? headers.link === undefined : isNone(next);
    case 'offset':
    case 'page':
      return count === 0 || (total === count && statesTotal(page, count));
  }
}

export function isByLinkHeader({ next, nextHeader }: LinkPagination): boolean {
  return next === undefined && nextHeader === undefined;
}

/** Whether a member that cannot be the length of the page states this total. */
export function statesTotal({ statements }: PageSummary, items: number): boolean {
  const totals = statements.filter((each) => each.sign === 'total' && !each.isCount && !each.isSize);
  const filtered = totals.filter(({ isFiltered }) => isFiltered);
  return (filtered.length > 0 ? filtered : totals).some(({ stated }) => stated === items);
}

/** The expression `hasMore && cursor` is false on the last page. */
export function isNone(next: unknown): boolean {
  return leads(next) !== true;
}

/** 96 bits. V8 copies parts of a text up to this length; a longer part keeps the whole text. */
const DIGEST_LENGTH = 12;
/** Digests in one turn of the event loop: a page may have 75,000 items. */
const STEP = 5000;

/** Splits the digests of a page, in steps of one turn of the event loop each. */
export async function* inSteps(digests: string): AsyncGenerator<string[]> {
  for (let from = 0; from < digests.length; from += STEP * DIGEST_LENGTH) {
    if (from > 0) await nextTurn();
    const to = Math.min(from + STEP * DIGEST_LENGTH, digests.length);
    const some: string[] = [];
    for (let at = from; at < to; at += DIGEST_LENGTH) some.push(digests.slice(at, at + DIGEST_LENGTH));
    yield some;
  }
}

/** Throws `upstream_invalid` if an item nests too deeply. */
export function digestsOf(items: readonly unknown[]): string {
  try {
    return textDigestsOf(items.map((item) => JSON.stringify(item)));
  } catch (cause) {
    throw incompleteListError('an item nests too deeply', cause);
  }
}

/** The digests of texts, in the same form. */
export function textDigestsOf(texts: readonly string[]): string {
  return texts.map((text) => hash('sha256', text, 'binary').slice(0, DIGEST_LENGTH)).join('');
}

/** Whether no two of these digests differ. */
export function hasOneId(digests: string): boolean {
  return digests === digests.slice(0, DIGEST_LENGTH).repeat(digests.length / DIGEST_LENGTH);
}

/** One read of a list whose first page has arrived. */
export interface ListRead<P extends PageSummary> {
  readonly list: ListRequest;
  readonly first: P;
  fetch(address: PageAddress, signal: AbortSignal): Promise<P>;
  readonly signal: AbortSignal;
}

/** A POST may write, unless settings say that it changes nothing. */
export function mayRepeat({ post }: ListRequest): boolean {
  return post === undefined || post.isRepeatable;
}

/** Throws `upstream_invalid` if the page has no total where settings say. */
export function totalOf(page: PageSummary, pagination: Pagination): number {
  const { total, totalHeader = '' } = pagination;
  const value = total === undefined ? (page.headers[totalHeader.toLowerCase()] ?? page.total) : page.total;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw incompleteListError(
      `the page has no total: ${totalKey(pagination)} does not lead to a whole number: correct or remove it`,
    );
  }
  return number;
}

export function totalKey({ total }: Pagination): string {
  return total === undefined ? 'pagination.totalHeader' : 'pagination.total';
}

/** Throws `upstream_invalid` beyond a bound. */
export function checkBounds(
  { maxItems, maxPages }: ListRequest,
  { items = 0, pages = 0 }: { readonly items?: number; readonly pages?: number },
): void {
  if (items > maxItems) throw exceeds('maxItems', `the list has more items than maxItems: ${maxItems}`);
  if (pages > maxPages) throw exceeds('maxPages', `the list has more pages than maxPages: ${maxPages}`);
}

/** Call it before any other use of the token or link: to put 2 MB into a URL takes half a second. */
export function checkNext({ maxNextBytes }: ListRequest, next: string): void {
  if (Buffer.byteLength(next) > maxNextBytes)
    throw exceeds('maxNextBytes', `the token or link to the next page is longer than maxNextBytes: ${maxNextBytes}`);
}

function exceeds(bound: string, reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason, bound });
}

/** Creates the error for pages that do not add up. `reason` is for the log. */
export function incompleteListError(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason, cause });
}

/** Creates the error. `what`: the sign with its figures; `other`: a remedy besides other paging. */
export function moreItemsError(sign: Sign, what: string, other?: string): GatewayError {
  // A figure that the reply states is right more often than a person who ignores it.
  const canIgnore = sign !== 'total' && sign !== 'pages';
  const cure = `set pagination.kind and its keys to the pagination of the platform${other === undefined ? '' : `; ${other}`}${canIgnore ? `; only if the list is known to be complete, set pagination.ignoreSigns: [${sign}], which turns this check off` : ''}`;
  return new GatewayError('upstream_invalid', {
    reason: `there may be more items than were read (${sign}: ${what}): ${cure}`,
    detail: `The platform may have more items than Portico reads (sign: ${sign}). The operator of Portico has to ${cure}.`,
  });
}

/** Creates the error. `what`: the cause with its figures; `cure` names the keys. */
export function endTestError(what: string, cure: string, cause?: unknown): GatewayError {
  const last = 'pagination.ignoreSigns: [fullPage] turns this check off, and short lists are then served';
  return new GatewayError('upstream_invalid', {
    reason: `${what}: ${cure}; ${last}`,
    detail: `The list may be incomplete: ${what}. The operator of Portico has to ${cure}; ${last}.`,
    cause,
  });
}

/** Names of a page size in a query or a body that settings send. */
const SIZE_PARAMETERS =
  /^(?:limit|size|count|rows|top|\$top|take|first|(?:max|num|page)[_-]?(?:size|results|items)|(?:per|items[_-]?per)[_-]?page|page[_-]?limit)$/i;

/** A page size in a text of GraphQL or a query language: `first: 100`, `LIMIT 100`. */
const SIZE_IN_TEXT = /\b(?:first|limit|take|top)\b\W{1,3}(\d+)\b/i;

/** Returns `undefined` if settings leave that to the platform. */
export function sizeAsked({ pagination, query, post }: ListRequest): number | undefined {
  if (pagination.kind !== 'none' && pagination.sizeParam !== null) return pagination.size;
  const body: unknown = JSON.parse(post?.body?.({}) ?? 'null');
  const members = [...Object.entries(query), ...membersOf(body)];
  const [, size = SIZE_IN_TEXT.exec(members.map(([, value]) => value).join('\n'))?.[1]] = members.find(isSize) ?? [];
  return size === undefined ? undefined : Number([size].flat()[0]);
}

/** A number, unlike `count=true`. */
export function isSize([name, value]: readonly [string, unknown]): boolean {
  return SIZE_PARAMETERS.test(name) && Number([value].flat()[0]) > 0;
}

function membersOf(body: unknown): [string, unknown][] {
  if (typeof body !== 'object' || body === null) return [];
  const own = Object.entries(body);
  return [...(Array.isArray(body) ? [] : own), ...own.flatMap(([, value]) => membersOf(value))];
}
