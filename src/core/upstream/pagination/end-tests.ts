import { GatewayError } from '../../kernel/errors.ts';
import type { EndTest, ListEnd } from './end-test.ts';
import { saysEnd, shorterPage } from './full-page.ts';
import { doubted } from './incomplete.ts';
import type { ListRead, PageView } from './list-read.ts';
import { behindTotal, firstByNumber, lastByOffset, lastOfTotal, secondByNumber, twoByOffset } from './number-end.ts';
import { pageAddress } from './page-address.ts';
import { namesTotal } from './pagination.ts';

/** Statuses of a platform that does not take the size or place that it was asked for. */
const REFUSED: readonly unknown[] = [400, 404, 414, 422];

type Design = (end: ListEnd) => EndTest | undefined;

/** Tests of the end, and of what settings name the place: of each, a list gets the first that fits it. */
const TESTS: readonly (readonly Design[])[] = [
  [shorterPage, usualSizes, behindTotal, lastByOffset, twoByOffset, secondByNumber],
  [firstByNumber, lastOfTotal],
];

/** Throws `upstream_invalid` where one more request shows that a list does not begin or end where it seems to. */
export async function testEnd({ test, signal }: Pick<ListRead<PageView>, 'test' | 'signal'>, end: ListEnd) {
  for (const designs of TESTS) {
    const endTest = designs.map((design) => design(end)).find((each) => each !== undefined);
    if (endTest === undefined) continue;
    const reply = await test(endTest.address, signal).catch((cause: unknown) => {
      if (!(cause instanceof GatewayError && REFUSED.includes(cause.upstreamStatus))) throw cause;
      if (endTest.refusal === 'fails') throw endTest.failed('the platform refuses it', cause);
      return undefined;
    });
    if (reply !== undefined && !(await endTest.passes(reply))) throw endTest.failed(`${reply.count} came`);
  }
}

/** What platforms call the parameter for a page size. */
const USUAL_SIZES = [
  ...[
    'limit',
    '$limit',
    'per_page',
    'perPage',
    'page_size',
    'pageSize',
    'pagesize',
    'page[size]',
    'size',
    '$top',
    'top',
  ],
  ...['max_results', 'maxResults', 'max', 'first', 'count', 'rows', 'take'],
];
const SMALL_SIZE = 7;

/**
 * Of `none`: a round number of items may be the default size of a platform that pages. Where it does, a small size brings
 * fewer; where it does not, it ignores the parameters or refuses them.
 */
function usualSizes({ list, first: { count }, first }: ListEnd): EndTest | undefined {
  const { pagination, query, post } = list;
  if (pagination.kind !== 'none' || post !== undefined) return undefined;
  // A total that the body says may be the length of the page.
  if (pagination.total === undefined && namesTotal(pagination)) return undefined;
  if (count < 20 || count % 10 !== 0 || saysEnd(first, count)) return undefined;
  const unsent = USUAL_SIZES.filter((name) => !(name in query));
  return {
    address: pageAddress(list, Object.fromEntries(unsent.map((name) => [name, SMALL_SIZE]))),
    passes: (reply) => reply.count === count,
    refusal: 'passes',
    failed: (came) =>
      doubted(
        `${count} items came, and of the same list ${came} where the usual parameters for a page size are ${SMALL_SIZE}: it follows one of them, so it is paged`,
        'set pagination.kind and its keys to how the platform pages',
      ),
  };
}
