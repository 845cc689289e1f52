import { FILTERED, type Sign } from '../signs/signs.ts';
import type { Statement } from '../signs/statements.ts';
import { testEnd } from './end-tests.ts';
import { goesOn, incomplete } from './incomplete.ts';
import { type ListRead, type PageView, totalKey, totalOf } from './list-read.ts';
import { namesTotal } from './pagination.ts';

/** What the pages of a read have told so far. */
interface Told {
  items: number;
  /** Up to the last one that has items. */
  pages: number;
  /** Pages that have items. */
  filled: number;
  /** Items of the last page that has some. */
  tail: number;
  /** Marks of the ids of that page and of the one before it. */
  tailIds: string;
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
  const told: Told = { items: 0, pages: 1, filled: 0, tail: 0, tailIds: '', least: {}, last: read.first };
  let all = 0;
  let ids = '';
  for await (const page of pages) {
    all += 1;
    told.items += page.count;
    told.last = page;
    if (page.count > 0) {
      told.pages = all;
      told.filled += 1;
      told.tail = page.count;
      told.tailIds = ids + (page.ids ?? '');
      ids = page.ids ?? '';
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
  await testEnd(read, { ...told, list: read.list, first: read.first });
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
    throw incomplete(
      `${items} items came, and the total says ${total}: check pagination.kind and its keys, and ${totalKey(pagination)}`,
    );
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
