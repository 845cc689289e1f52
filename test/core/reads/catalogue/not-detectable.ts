import { nextOf } from '../../../../src/core/upstream/paging/by-next.ts';
import { isNone } from '../../../../src/core/upstream/paging/list-read.ts';
import { firstTarget } from '../../../../src/core/upstream/paging/paginate.ts';
import { COUNTING, counted, type GeneratedPlatform, itemsOf, type Reply, replyTo } from './generated-platform.ts';
import { listOf } from './generated-read.ts';
import type { GeneratedRead } from './generated-settings.ts';

/**
 * Reads of which no reply shows that they are short, each with the reason: docs/decisions/0004, "Not detectable", lists the
 * same names. No other read is left out of the property.
 */
export const NOT_DETECTABLE: Readonly<Record<string, (read: GeneratedRead) => boolean>> = {
  /** Settings find no next page in a first one that says neither how long the list is nor that it goes on. */
  'a page that says nothing': (read) => {
    const first = firstOf(read);
    if (first === undefined || !saysNothing(read.platform) || leadsOn(read, first)) return false;
    return !isFull(read, first) && !isTried(read, first);
  },
  /** To a token that it does not know, the platform replies as at the end of a list, where a token may well lead. */
  'an unknown token that leads to an empty page': (read) => {
    const { platform, pagination } = read;
    const first = firstOf(read);
    if (pagination.kind !== 'token' || first === undefined || tellsHowMany(platform)) return false;
    const size = pagination.sizeParam === null ? '' : `${pagination.sizeParam}=${pagination.size}&`;
    const place = `${pagination.tokenParam}=${encodeURIComponent(String(pagination.next(first.body)))}`;
    const second = replyTo(platform, `/list?${size}${place}`);
    // No page is smaller than one of one item.
    const isTried = setsSize(read) && itemsIn(first).length > 1;
    return leadsOn(read, first) && second !== undefined && itemsIn(second).length === 0 && !isTried;
  },
  /** The last page says truly that none follows, and settings name its length as the total: so it looks like the only one. */
  'a last page that is taken for the first': (read) => {
    const { platform, pagination } = read;
    const first = firstOf(read);
    if ((pagination.kind !== 'page' && pagination.kind !== 'offset') || first === undefined) return false;
    if (tellsHowMany(platform)) return false;
    const items = itemsIn(first);
    // Not by id, which the next item may have, too.
    const begin = replyTo(platform, '/list') ?? first;
    return pagination.total?.(first.body) === items.length && items[0]?.serial !== itemsIn(begin)[0]?.serial;
  },
  /** Nothing contradicts it. */
  'a wrong total that the items received reach': (read) => {
    const { platform } = read;
    const first = firstOf(read);
    if (first === undefined || !(tellsHowMany(platform) || platform.shown.includes('pages'))) return false;
    const { cap, error } = platform.totals;
    const isWrong = error !== 0 || cap < platform.count;
    const all = itemsOf(platform);
    const items = itemsIn(first);
    const before = all.findIndex(({ id }) => id === items[0]?.id);
    const total = counted(platform, all.length);
    return isWrong && (items.length >= total || (before > 0 && all.length - before === total));
  },
  /** No size is smaller, and no place is in the middle of it. */
  'a first page of which the caller sees one item or none': (read) => {
    const first = firstOf(read);
    if (first === undefined || read.platform.unseen === undefined || tellsHowMany(read.platform)) return false;
    const { length } = itemsIn(first);
    return length < 2 && (!findsPlaces(read) || read.pagination.total?.(first.body) === length);
  },
  /** Ids are compared, not items: those of another place may be the same, or of the same item, which differs by reply. */
  'ids that repeat in pages that settings do not find': (read) => {
    const { versions, isVolatile } = read.platform;
    return read.duplicateIds === 'allow' && (versions > 1 || isVolatile) && !(findsPlaces(read) && beginsRight(read));
  },
};

/** The name of the exclusion that a read falls under. */
export function notDetectable(read: GeneratedRead): string | undefined {
  return Object.entries(NOT_DETECTABLE).find(([, applies]) => applies(read))?.[0];
}

function firstOf(read: GeneratedRead): Reply | undefined {
  return replyTo(read.platform, firstTarget(listOf(read)).target);
}

function itemsIn({ body }: Reply): readonly { readonly id: string; readonly serial: number }[] {
  return (body as { items: { id: string; serial: number }[] }).items;
}

function saysNothing({ shown }: GeneratedPlatform): boolean {
  return shown.every((sign) => sign === 'prev' || sign === 'count');
}

function tellsHowMany({ shown }: GeneratedPlatform): boolean {
  return COUNTING.some((sign) => shown.includes(sign));
}

/** Whether settings and the platform agree about the place of a page. */
function findsPlaces({ platform, pagination }: GeneratedRead): boolean {
  const { way, placeParam, ignores, roundsOffsets } = platform;
  if (ignores === 'place') return false;
  switch (pagination.kind) {
    case 'none':
      return way === 'all';
    case 'link':
      return way === 'link' || way === 'link in body';
    case 'token':
      return way === 'token' && pagination.tokenParam === placeParam;
    case 'offset':
      return way === 'offset' && pagination.offsetParam === placeParam && !roundsOffsets;
    case 'page':
      return way === 'page' && pagination.pageParam === placeParam;
  }
}

function beginsRight({ platform, pagination }: GeneratedRead): boolean {
  return pagination.kind !== 'page' || pagination.firstPage === platform.firstPage;
}

/** Whether the platform follows the size that settings send. */
function setsSize({ platform, pagination }: GeneratedRead): boolean {
  return 'sizeParam' in pagination && pagination.sizeParam === platform.sizeParam && platform.ignores !== 'size';
}

/** Whether the settings find a next page in the first one. */
function leadsOn({ pagination }: GeneratedRead, { body, headers }: Reply): boolean {
  switch (pagination.kind) {
    case 'none':
      return false;
    case 'token':
      return !isNone(pagination.next(body));
    case 'link': {
      const view = { count: 0, headers, statements: [], next: pagination.next?.(body) };
      return nextOf(view, pagination) !== undefined;
    }
    case 'offset':
    case 'page':
      return true;
  }
}

/** As many items as the settings asked for: then one more request is the test. */
function isFull({ pagination, query }: GeneratedRead, first: Reply): boolean {
  const asked = pagination.kind === 'none' ? Object.values(query)[0] : pagination.sizeParam && pagination.size;
  return itemsIn(first).length === Number(asked ?? Number.NaN);
}

/** A page of `none` of at least two items: then the usual size parameters are the test. */
function isTried({ platform, pagination, query }: GeneratedRead, first: Reply): boolean {
  const { length } = itemsIn(first);
  const takesSize = !platform.refusesUnknown && platform.ignores !== 'size' && !(platform.sizeParam in query);
  return pagination.kind === 'none' && length >= 2 && takesSize;
}
