import { GatewayError } from '../../kernel/errors.ts';
import { COUNTS, FILTERED, type Sign } from '../signs/signs.ts';
import type { Statement } from '../signs/statements.ts';
import { nextLink } from './by-link.ts';
import { doubted, goesOn, incomplete } from './incomplete.ts';
import { isNone, type ListRead, type ListRequest, type PageView, totalOf } from './list-read.ts';
import { firstAddressOf, pageAddress } from './page-address.ts';
import { namesTotal, offsetParameters } from './pagination.ts';

/** What asks for a page of a size in a query or a body, where settings send it by themselves. */
const SIZE_PARAMETERS =
  /^(?:limit|size|count|rows|top|\$top|take|first|(?:max|num|page)[_-]?(?:size|results|items)|(?:per|items[_-]?per)[_-]?page|page[_-]?limit)$/i;

/** Statuses of a platform that does not take the page size that it was asked for. */
const SIZE_REFUSED: readonly unknown[] = [400, 422];

/** What the pages of a read have told so far. */
interface Told {
  items: number;
  /** Up to the last one that has items. */
  pages: number;
  /** Pages that have items. */
  filled: number;
  /** Items of the last page that has some. */
  tail: number;
  /** The fewest items, and the fewest pages, that a page said there are in all. */
  readonly least: { total?: Statement; pages?: Statement };
  last: PageView;
}

/**
 * The same pages, as long as the platform does not say that there are more of them. That is decided once the last one came:
 * what was followed by then is no sign of more. A list may be longer than it was said to be, since it may have grown.
 */
export async function* guarded<P extends PageView>(read: ListRead<P>, pages: AsyncIterable<P>): AsyncGenerator<P> {
  const { pagination } = read.list;
  // Of an empty list, some platforms say that it has one page.
  const told: Told = { items: 0, pages: 1, filled: 0, tail: 0, least: {}, last: read.first };
  let all = 0;
  for await (const page of pages) {
    all += 1;
    told.items += page.count;
    told.last = page;
    if (page.count > 0) {
      told.pages = all;
      told.filled += 1;
      told.tail = page.count;
    }
    keepLeast(told.least, 'total', page);
    keepLeast(told.least, 'pages', page);
    yield page;
  }
  checkTotal(read, told);
  const { ignoreSigns = [] } = pagination;
  const sign = signOf(read, told, (each) => !ignoreSigns.includes(each));
  if (sign !== undefined) throw goesOn(...sign);
  if (ignoreSigns.includes('fullPage')) return;
  await checkFullPage(read, told);
  await checkOffset(read, told);
}

/** Of several that one page says, that of what a filter leaves counts, else the greatest: the others may be those of this page. */
function keepLeast(least: Told['least'], sign: 'total' | 'pages', { said, count }: PageView): void {
  // What is no more than the page itself may be its own length.
  const floor = sign === 'total' ? count : 0;
  const filtered = said.filter(({ name }) => sign === 'total' && FILTERED.includes(name));
  const [most] = (filtered.length > 0 ? filtered : said)
    .filter(
      (each) => each.sign === sign && Number(each.says) > floor && !(each.name === 'pageCount' && each.says === count),
    )
    .toSorted((a, b) => Number(b.says) - Number(a.says));
  const before = least[sign];
  if (most !== undefined && (before === undefined || most.says < before.says)) least[sign] = most;
}

/** Where settings say where the total stands, it holds for every kind. */
function checkTotal<P extends PageView>({ list, first }: ListRead<P>, { items, last }: Told): void {
  const { pagination } = list;
  if (!namesTotal(pagination) || pagination.kind === 'offset' || pagination.kind === 'page') return;
  const total = totalOf(first, pagination);
  if (items < total && items < (last === first ? total : totalOf(last, pagination))) {
    throw incomplete('the pages do not add up to the total');
  }
}

/** The sign that there is more, if there is one, and what it says. */
function signOf<P extends PageView>(
  { list, first }: ListRead<P>,
  { items, pages, filled, least, last }: Told,
  counts: (sign: Sign) => boolean,
): [Sign, string] | undefined {
  const { total, pages: pageCount } = least;
  if (counts('total') && total !== undefined && Number(total.says) > items) {
    return ['total', `${total.name} is ${total.says}, and ${items} came`];
  }
  if (counts('pages') && pageCount !== undefined && Number(pageCount.says) > pages) {
    return ['pages', `${pageCount.name} is ${pageCount.says}, and ${pages} came`];
  }
  const byNumber = list.pagination.kind === 'offset' || list.pagination.kind === 'page';
  // Where only the first page has items, an empty one behind it does not show that the platform was asked the right way.
  // But a link or token that was followed may lead to one: DynamoDB names a key behind the last item.
  const flagging = filled === 1 ? first : last;
  const { said } = byNumber ? flagging : last;
  const more = flagging.said.find(({ sign, says }) => sign === 'more' && says === true);
  if (counts('more') && more !== undefined) return ['more', more.name];
  // Some platforms link to a next page always, and tell the end by a flag.
  const isEnded = said.some(({ sign, says }) => sign === 'more' && says === false);
  const next = said.find(({ sign, says }) => sign === 'next' && says === true);
  if (counts('next') && next !== undefined && !isEnded) return ['next', next.name];
  // Some platforms link back from the first page, too; where it was asked for by its number, it has to be the first.
  const previous = first.said.find(({ sign, says }) => sign === 'previous' && says === true);
  if (counts('previous') && byNumber && previous !== undefined) return ['previous', previous.name];
  return undefined;
}

/**
 * A first page exactly as long as was asked for, which does not say that it is the last, may be all of the list or the
 * beginning of it. Some platforms leave out the link or token then, and what is called a total may count the items of the
 * page. So one page more is asked for, shorter by one: where the platform pages as settings say, it has to lead on, or to
 * tell the same total.
 */
async function checkFullPage<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  { last }: Told,
): Promise<void> {
  const { pagination } = list;
  const asked = sizeAsked(list);
  if (last !== first || first.count !== asked || first.next === '' || first.next === false) return;
  const error = goesOn('fullPage', `${asked} items were asked for and came, and nothing says that they are all`);
  const isCounted = pagination.kind !== 'none' && pagination.total !== undefined && mayRepeat(list);
  if (pagination.kind !== 'token' && pagination.kind !== 'link' && !isCounted) {
    const isEnded = first.said.some((each) => !COUNTS.includes(each.name) && isEnd(asked, each));
    if (isEnded || namesTotal(pagination)) return;
    throw error;
  }
  if (first.said.some((each) => !isTotalInBody(each) && isEnd(asked, each))) return;
  if (pagination.total === undefined && namesTotal(pagination)) return;
  // There is nothing shorter than one: of two that are asked for, one has to be all.
  const address = firstAddressOf(list, { ...pagination, size: asked === 1 ? 2 : asked - 1 });
  const other = await fetch(address, signal).catch((cause: unknown) => {
    throw cause instanceof GatewayError && SIZE_REFUSED.includes(cause.upstreamStatus) ? error : cause;
  });
  if (asked === 1) {
    if (other.count > 1) throw error;
    return;
  }
  const leadsOn =
    (pagination.kind === 'token' && !isNone(other.next)) ||
    (pagination.kind === 'link' && nextLink(other, pagination) !== undefined);
  const totals = [Number(other.total ?? 0), ...other.said.filter(isTotalInBody).map(({ says }) => says)];
  if (!leadsOn && !(other.count < asked && totals.includes(asked))) throw error;
}

/**
 * Without a total, an empty page ends a list by `offset`, and so it does where the platform takes the number of items for that of
 * a page. The offset of the last item, or of the last two where the last alone came already, has to bring no others. Counts are compared, since items may hold what changes with
 * each reply.
 */
async function checkOffset<P extends PageView>(
  { list, first, fetch, signal }: ListRead<P>,
  { items, filled, tail }: Told,
): Promise<void> {
  const { pagination } = list;
  if (pagination.kind !== 'offset' || namesTotal(pagination) || first.count < 2 || !mayRepeat(list)) return;
  const isCounted = ({ sign, name, says }: Statement) => sign === 'total' && says === items && !COUNTS.includes(name);
  if (first.said.some((each) => isCounted(each) || (filled === 1 && each.sign !== 'total' && isEnd(items, each))))
    return;
  const due = tail === 1 ? 2 : 1;
  const place = items - due;
  const wrong = (came: string, cause?: unknown) =>
    doubted(
      `an empty page follows ${items} items, but the offset ${place} ${came}, not the last ${due}`,
      'set pagination.kind and pagination.offsetParam to how the platform pages, or pagination.total to where it says the total',
      cause,
    );
  const other = await fetch(pageAddress(list, offsetParameters(pagination, place)), signal).catch((cause: unknown) => {
    throw cause instanceof GatewayError && SIZE_REFUSED.includes(cause.upstreamStatus)
      ? wrong('is refused', cause)
      : cause;
  });
  if (other.count !== due) throw wrong(`brings ${other.count} items`);
}

/** Whether the first page may be asked for again: a POST may write, unless settings say that it changes nothing. */
function mayRepeat({ post }: ListRequest): boolean {
  return post === undefined || post.isRepeatable;
}

function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
}

function sizeAsked({ pagination, query, post }: ListRequest): number | undefined {
  if (pagination.kind !== 'none') return pagination.sizeParam === null ? undefined : pagination.size;
  const body: unknown = JSON.parse(post?.body?.({}) ?? 'null');
  const [, size] = [...Object.entries(query), ...membersOf(body)].find(([name]) => SIZE_PARAMETERS.test(name)) ?? [];
  return size === undefined ? undefined : Number([size].flat()[0]);
}

/** Every member of a body, however deep. */
function membersOf(body: unknown): [string, unknown][] {
  if (typeof body !== 'object' || body === null) return [];
  const own = Object.entries(body);
  return [...(Array.isArray(body) ? [] : own), ...own.flatMap(([, value]) => membersOf(value))];
}

/** Whether a page of so many items says by this that no other follows. */
function isEnd(count: number, { sign, says }: Statement): boolean {
  switch (sign) {
    case 'total':
      return says === count;
    case 'pages':
      return says === 1;
    case 'more':
    case 'next':
      return says === false;
    case 'previous':
      return false;
  }
}
