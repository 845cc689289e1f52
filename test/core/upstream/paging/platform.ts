import { expect } from 'chai';
import { createConfirmations } from '../../../../src/capabilities/confirmation/confirmation.ts';
import {
  digestsOf,
  isWhole,
  type ListRequest,
  type PageSummary,
  summarize,
  textDigestsOf,
} from '../../../../src/core/upstream/paging/list-read.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { firstTarget, paginate } from '../../../../src/core/upstream/paging/paginate.ts';
import type { PageTarget } from '../../../../src/core/upstream/upstream.ts';

export interface Item {
  readonly id: number;
  readonly name: string;
}

export const itemsUpTo = (count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({ id: index, name: `name ${index % 3}` }));

export const KINDS = [
  'token',
  'link',
  'link in body',
  'offset',
  'offset with total',
  'page',
  'page with total',
] as const;
export type Kind = (typeof KINDS)[number];

export interface SimulatedPage {
  readonly body: Readonly<Record<string, unknown>>;
  readonly items: readonly Item[];
  readonly headers: PageSummary['headers'];
}

export interface ReadPage extends PageSummary {
  readonly items: readonly Item[];
}

export interface PlatformOptions {
  readonly kind: Kind;
  /** The list. Whoever changes it changes what the platform has. */
  readonly items: Item[];
  readonly size: number;
  /** Items that the platform sends in one page at most. @default 1000 */
  readonly cap?: number;
  /** @default 3 */
  readonly concurrency?: number;
  /** Whether pages are posted, with what they are asked for in the body. Links are followed with a GET. @default false */
  readonly posted?: boolean;
  /** Whether settings say that a POST changes nothing. @default true */
  readonly repeatable?: boolean;
  readonly before?: (request: number) => void;
  /** Replaces an answer. `previous` is the one before; undefined for the first. */
  readonly mangle?: (page: SimulatedPage, request: number, previous?: SimulatedPage) => SimulatedPage;
}

/** All items of the list, as pagination brings them. */
export async function readAll(
  { list, fetchPage }: Platform,
  more: Partial<ListRequest> = {},
  confirmed = false,
): Promise<Item[]> {
  const items: Item[] = [];
  const { signal } = new AbortController();
  const asked = { ...list, ...more };
  const first = await fetchPage(firstTarget(asked), signal);
  const confirmation = createConfirmations(Date.now)('list', '');
  for await (const page of paginate(asked, first, fetchPage, signal, confirmed ? confirmation : undefined))
    items.push(...page.items);
  return items;
}

/** Why a list is refused with `upstream_invalid`. */
export async function reasonOf(platform: Platform, confirmed = false): Promise<string> {
  const error = await readAll(platform, {}, confirmed).catch((reason) => reason);
  expect(error).to.have.property('code', 'upstream_invalid');
  return error.reason;
}

/** A platform in this process that serves `items` in pages. */
export interface Platform {
  readonly list: ListRequest;
  /** Every target so far, and what was posted there. */
  readonly targets: string[];
  fetchPage(target: PageTarget, signal: AbortSignal): Promise<ReadPage>;
}

export function simulate(options: PlatformOptions): Platform {
  const {
    kind,
    items,
    cap = 1000,
    posted = false,
    repeatable = true,
    before = () => {},
    mangle = (page) => page,
  } = options;
  const targets: string[] = [];
  const pagination = paginationOf(options);
  let previous: SimulatedPage | undefined;
  return {
    targets,
    list: {
      baseUrl: 'https://platform.example/base/',
      path: '/v1/list',
      query: { installed: 'true' },
      ...(posted && { post: { body: (places) => JSON.stringify(places), isRepeatable: repeatable } }),
      pagination,
      maxItems: 1000,
      maxPages: 1000,
      maxNextBytes: 4096,
    },
    async fetchPage({ target, post }, signal) {
      signal.throwIfAborted();
      const request = targets.length;
      targets.push(`${target}${post?.body ?? ''}`);
      before(request);
      const url = new URL(target, 'https://platform.example');
      const places: Record<string, string | number> = JSON.parse(post?.body ?? '{}');
      for (const [pointer, value] of Object.entries(places)) url.searchParams.set(pointer.slice(1), String(value));
      const size = Math.min(cap, Number(url.searchParams.get('size') ?? cap));
      const start = startOf(kind, url, size);
      const page = pageOf(kind, items, start, size);
      const answer = mangle(page, request, previous);
      previous = answer;
      const { items: read } = answer;
      const view = summarize(pagination, { ...answer, enclosing: [{ fields: [], value: answer.body }] });
      const alone = request === 0 && isWhole(pagination, view);
      return {
        ...view,
        items: read,
        ...(!alone && { digests: digestsOf(read) }),
        // The list is confirmed in most tests.
        ids: textDigestsOf(read.map(({ id }) => `${id}`)),
      };
    },
  };
}

/** Where the link or token of a page leads, as the platform writes it. */
export function leadTo(kind: Kind, start: number, size: number): Pick<SimulatedPage, 'body' | 'headers'> {
  const next = `/base/v1/list?installed=true&size=${size}&start=${start}`;
  if (kind === 'token') return { body: { next: `token ${start}+/=` }, headers: {} };
  if (kind === 'link') return { body: {}, headers: { link: `<${next}>; rel="next", </first>; rel="first"` } };
  return { body: { next: `https://platform.example${next}` }, headers: {} };
}

function startOf(kind: Kind, url: URL, size: number): number {
  const number = (name: string) => Number(url.searchParams.get(name) ?? 0);
  if (kind === 'token') return Number(/^token (\d+)\+\/=$/.exec(url.searchParams.get('token') ?? 'token 0+/=')?.[1]);
  if (kind.startsWith('offset')) return number('offset');
  if (kind.startsWith('page')) return (number('page') - 1) * size;
  return number('start');
}

function pageOf(kind: Kind, all: readonly Item[], start: number, size: number): SimulatedPage {
  const items = all.slice(start, start + size);
  const more = start + size < all.length;
  const body = { items };
  if (kind === 'offset with total') return { items, body: { ...body, total: all.length }, headers: {} };
  if (kind === 'page with total') return { items, body, headers: { 'x-total': String(all.length) } };
  if (kind === 'offset' || kind === 'page' || !more) return { items, body, headers: {} };
  const lead = leadTo(kind, start + size, size);
  return { items, body: { ...body, ...lead.body }, headers: lead.headers };
}

const field = (name: string) => (body: unknown) => (body as Record<string, unknown>)[name];

function paginationOf({ kind, size, concurrency = 3, posted = false }: PlatformOptions): Pagination {
  const name = (parameter: string) => (posted ? `/${parameter}` : parameter);
  const sized = { sizeParam: name('size'), size };
  switch (kind) {
    case 'token':
      return { kind: 'token', ...sized, tokenParam: name('token'), next: field('next') };
    case 'link':
      return { kind: 'link', ...sized };
    case 'link in body':
      return { kind: 'link', ...sized, next: field('next') };
    case 'offset':
      return { kind: 'offset', ...sized, offsetParam: name('offset'), concurrency };
    case 'offset with total':
      return { kind: 'offset', ...sized, offsetParam: name('offset'), concurrency, total: field('total') };
    case 'page':
      return { kind: 'page', ...sized, pageParam: name('page'), firstPage: 1, concurrency };
    case 'page with total':
      return { kind: 'page', ...sized, pageParam: name('page'), firstPage: 1, concurrency, totalHeader: 'X-Total' };
  }
}
