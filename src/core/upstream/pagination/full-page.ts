import { COUNTS } from '../signs/signs.ts';
import type { Statement } from '../signs/statements.ts';
import { nextLink } from './by-link.ts';
import type { EndTest, ListEnd } from './end-test.ts';
import { goesOn } from './incomplete.ts';
import { isNone, type ListRequest, mayRepeat, type PageView } from './list-read.ts';
import { firstAddressOf, type PageAddress, pageAddress } from './page-address.ts';
import { namesTotal } from './pagination.ts';

/** What asks for a page of a size in a query or a body, where settings send it by themselves. */
const SIZE_PARAMETERS =
  /^(?:limit|size|count|rows|top|\$top|take|first|(?:max|num|page)[_-]?(?:size|results|items)|(?:per|items[_-]?per)[_-]?page|page[_-]?limit)$/i;

/**
 * Tests a first page exactly as long as was asked for, which does not say that it is the last: it may be all of the list or
 * the beginning of it. Some platforms leave out the link or token then, and what is called a total may count the items of
 * the page. A page shorter by one has to lead on, or to have the same total. Throws where that cannot be requested and there
 * is no total.
 */
export function shorterPage({ list, first, last }: ListEnd): EndTest | undefined {
  const { pagination, post } = list;
  const size = sizeAsked(list);
  if (last !== first || first.count !== size || first.next === '' || first.next === false) return undefined;
  if (first.said.some((each) => !isTotalInBody(each) && isEnd(size, each))) return undefined;
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  const isCounted = pagination.total !== undefined || saysEnd(first, size);
  const failed = () =>
    goesOn(
      'fullPage',
      `${size} items were asked for and came, and nothing says that they are all`,
      post === undefined || post.isRepeatable
        ? undefined
        : 'where the POST changes nothing, set retryPost: true, so that it may be sent once more as a test',
    );
  // There is nothing shorter than one: of two that are asked for, one has to be all.
  const address = addressOfSize(list, size === 1 ? 2 : size - 1);
  if (address === undefined || (pagination.kind === 'none' && !isCounted)) {
    if (isCounted) return undefined;
    throw failed();
  }
  const passes = (reply: PageView) => {
    if (size === 1) return reply.count <= 1;
    const leadsOn =
      (pagination.kind === 'token' && !isNone(reply.next)) ||
      (pagination.kind === 'link' && nextLink(reply, pagination) !== undefined);
    const totals = [Number(reply.total ?? 0), ...reply.said.filter(isTotalInBody).map(({ says }) => says)];
    return leadsOn || (reply.count < size && totals.includes(size));
  };
  return { address, passes, refusal: 'fails', failed };
}

/** Whether a page says that there are `count` items and no more, and not by what may count its own. */
export function saysEnd({ said }: PageView, count: number): boolean {
  return said.some((each) => !COUNTS.includes(each.name) && isEnd(count, each));
}

/** Items that settings ask for in one page; undefined where they leave that to the platform. */
export function sizeAsked(list: ListRequest): number | undefined {
  const { pagination, query, post } = list;
  if (pagination.kind !== 'none') return pagination.sizeParam === null ? undefined : pagination.size;
  const body: unknown = JSON.parse(post?.body?.({}) ?? 'null');
  const [, size] = [...Object.entries(query), ...membersOf(body)].find(isSize) ?? [];
  return size === undefined ? undefined : Number([size].flat()[0]);
}

/** The first page in another size; undefined where it may not be requested, or settings name no parameter for its size. */
function addressOfSize(list: ListRequest, size: number): PageAddress | undefined {
  const { pagination, query } = list;
  if (!mayRepeat(list)) return undefined;
  if (pagination.kind !== 'none') return firstAddressOf(list, { ...pagination, size });
  const [name] = Object.entries(query).find(isSize) ?? [];
  return name === undefined ? undefined : pageAddress(list, { [name]: size });
}

function isSize([name]: readonly [string, unknown]): boolean {
  return SIZE_PARAMETERS.test(name);
}

/** Every member of a body, however deep. */
function membersOf(body: unknown): [string, unknown][] {
  if (typeof body !== 'object' || body === null) return [];
  const own = Object.entries(body);
  return [...(Array.isArray(body) ? [] : own), ...own.flatMap(([, value]) => membersOf(value))];
}

function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
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
