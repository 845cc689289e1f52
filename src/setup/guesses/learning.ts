import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import type { PagingProposal } from '../description/listing.ts';
import { type Ask, itemsOf, type Reply, type SeenList } from '../description/reply.ts';
import { shapeOfValue } from '../description/shape.ts';
import { MEMBERS, memberOf, TOTAL_HEADERS } from './paging.ts';

/** Query parameters that are tried, as platforms write them, the commonest first. */
const TRIED = {
  size: ['limit', 'per_page', 'page_size', 'pageSize', 'size', 'perPage', 'max_results', 'maxResults', '$top', 'count'],
  token: ['pageToken', 'page_token', 'cursor', 'next_token', 'nextToken', 'after', 'continuationToken', 'marker'],
  offset: ['offset', 'skip', 'start', 'startAt', '$skip', 'from', 'startIndex'],
  page: ['page', 'page_number', 'pageNumber', 'pageIndex', 'index', 'p'],
} as const;

/** What pages are asked for with, once they are known to be cut. */
const SIZE = 100;

/** What platforms cut their pages at: so many items may well be a full page. */
const ROUND = new Set([10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 150, 200, 250, 300, 500, 1000]);

/**
 * Learns how a platform pages a list by asking for pages of one item: what changes nothing is no parameter of it, and
 * what leads to the second item leads to the second page.
 */
export async function learnPaging(ask: Ask, list: SeenList): Promise<PagingProposal> {
  const whole = itemsOf(list.reply.body, list.items).map((item) => JSON.stringify(item));
  if (whole.length < 2)
    return undecided(`there ${whole.length === 1 ? 'is one item' : 'are no items'} to tell pages by`);
  const pages = pagesOf(ask, list);
  const sizeParam = await firstOf(TRIED.size, async (name) => (await pages({ [name]: '1' }))?.items.length === 1);
  if (sizeParam === undefined) return byNothing(whole.length, totalOf(list.reply)?.value);
  const one = { [sizeParam]: '1' };
  const first = await pages(one);
  if (first === undefined) return undecided('the platform stopped answering');
  const leads: Leads = async (query, to) =>
    whole[to] !== undefined && (await pages({ ...one, ...query }))?.items[0] === whole[to];
  const size = { sizeParam, size: SIZE };
  const learnt =
    (await byToken(first.reply, leads, size)) ??
    (await byNumber(leads, size, totalIn(list.reply, first.reply, whole.length))) ??
    byLink(first.reply, size);
  const tried = `pages of one item were asked for with ${sizeParam}`;
  if (learnt !== undefined) return { ...learnt, why: `${tried}, and ${learnt.why}` };
  // Not a short list, in any case: a page as long as was asked for, without a link to a next one, is an error. And so many
  // have come: no more are asked for, or the page that the platform cuts at would be taken for the whole.
  const doubts = ['how the platform pages this list: until then a full page without a Link header is an error'];
  const pagination = { kind: 'link', sizeParam, size: whole.length };
  return { pagination, why: `${tried}, and nothing that was tried led on`, doubts };
}

function byNothing(count: number, total: number | undefined): PagingProposal {
  const why = `no parameter that was tried changes that ${count} items come`;
  if (total !== undefined && total > count) return undecided(`${why}, of ${total}`);
  if (ROUND.has(count)) return undecided(`${why}, which may be a full page`);
  return { pagination: { kind: 'none' }, why, doubts: ['that the whole list is one page'] };
}

type Leads = (query: Readonly<Record<string, string>>, to: number) => Promise<boolean>;
type Size = { readonly sizeParam: string; readonly size: number };

async function byToken(reply: Reply, leads: Leads, size: Size): Promise<PagingProposal | undefined> {
  const next = memberOf(shapeOfValue(reply.body), MEMBERS.token, ['text']);
  const token = next === undefined ? undefined : compileExpression(next).evaluate(reply.body);
  if (next === undefined || typeof token !== 'string' || token === '' || isLink(token)) return undefined;
  const tokenParam = await firstOf(TRIED.token, (name) => leads({ [name]: token }, 1));
  if (tokenParam === undefined) return undefined;
  return {
    pagination: { kind: 'token', tokenParam, next, ...size },
    why: `${next} led on as ${tokenParam}`,
    doubts: [],
  };
}

async function byNumber(leads: Leads, size: Size, total: object | undefined): Promise<PagingProposal | undefined> {
  const offsetParam = await firstOf(TRIED.offset, (name) => leads({ [name]: '1' }, 1));
  if (offsetParam !== undefined) {
    return {
      pagination: { kind: 'offset', offsetParam, ...size, ...total },
      why: `${offsetParam} skips items`,
      doubts: [],
    };
  }
  const one = await firstOf(TRIED.page, (name) => leads({ [name]: '2' }, 1));
  // From 0 on, page 2 is the third, and page 1 the second.
  const zero = one ?? (await firstOf(TRIED.page, (name) => leads({ [name]: '1' }, 1)));
  if (zero === undefined) return undefined;
  const firstPage = one === undefined ? 0 : 1;
  const pagination = { kind: 'page', pageParam: zero, firstPage, ...size, ...total };
  return { pagination, why: `${zero} is the number of the page, from ${firstPage} on`, doubts: [] };
}

function byLink({ headers, body }: Reply, size: Size): PagingProposal | undefined {
  if (/rel="?[^",;]*\bnext\b/i.test(headers.get('link') ?? '')) {
    return { pagination: { kind: 'link', ...size }, why: 'the Link header names the next one', doubts: [] };
  }
  const next = memberOf(shapeOfValue(body), MEMBERS.link, ['text']);
  if (next === undefined || !isLink(compileExpression(next).evaluate(body))) return undefined;
  return { pagination: { kind: 'link', next, ...size }, why: `${next} links to the next one`, doubts: [] };
}

function isLink(value: unknown): boolean {
  return typeof value === 'string' && /^(?:https?:\/\/|[/?])/.test(value);
}

function undecided(why: string): PagingProposal {
  return { pagination: undefined, why, doubts: ['how the platform pages this list'] };
}

/** The setting that reads the total, if one number stands in a page of one item and in a longer one. */
function totalIn(long: Reply, short: Reply, count: number): object | undefined {
  const total = totalOf(long);
  return total !== undefined && total.value >= count && totalOf(short)?.value === total.value
    ? total.setting
    : undefined;
}

function totalOf({ body, headers }: Reply) {
  const header = TOTAL_HEADERS.find((name) => /^\d+$/.test(headers.get(name) ?? ''));
  if (header !== undefined) return { value: Number(headers.get(header)), setting: { totalHeader: header } };
  const total = memberOf(shapeOfValue(body), MEMBERS.total, ['number']);
  if (total === undefined) return undefined;
  return { value: Number(compileExpression(total).evaluate(body)), setting: { total } };
}

interface SeenPage {
  readonly reply: Reply;
  /** Each as its JSON. */
  readonly items: readonly string[];
}

/** Asks for a page of a list. Undefined where none came. */
function pagesOf(ask: Ask, { path, items }: SeenList) {
  return async (query: Readonly<Record<string, string>>): Promise<SeenPage | undefined> => {
    const reply = await ask(path, query);
    if (reply === undefined || reply.status !== 200 || reply.body === undefined) return undefined;
    return { reply, items: itemsOf(reply.body, items).map((item) => JSON.stringify(item)) };
  };
}

/** The first name for which it is so; asked one after the other, since a platform counts requests. */
async function firstOf(
  names: readonly string[],
  isSo: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of names) if (await isSo(name)) return name;
  return undefined;
}
