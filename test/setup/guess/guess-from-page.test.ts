import { expect } from 'chai';
import fc from 'fast-check';
import { PaginationSettings } from '../../../src/core/config/schema/resource/pagination.ts';
import { guessFromPage } from '../../../src/setup/guess/guess-from-page.ts';

const ITEMS = Array.from({ length: 25 }, (_, index) => ({ id: index }));

const guess = (body: object, headers: Record<string, string> = {}) => {
  return guessFromPage({ body, headers, count: 25 }).map(({ pagination }) => pagination);
};

describe('a guess of how a list is paged', () => {
  const data = ITEMS;
  const platforms: [string, object, Record<string, string>, object][] = [
    [
      'a Link header',
      ITEMS,
      { link: '<https://a.example/x?page=2&per_page=25>; rel="next", <https://a.example/x>; rel="first"' },
      { kind: 'link', sizeParam: 'per_page', size: 25 },
    ],
    [
      'a link in the body',
      { count: 120, next: 'https://a.example/x?limit=25&offset=25', previous: null, data },
      {},
      { kind: 'link', next: 'next', sizeParam: 'limit', size: 25 },
    ],
    [
      'a link of OData',
      { '@odata.nextLink': '/x?$skiptoken=a', data },
      {},
      { kind: 'link', next: '"@odata.nextLink"', sizeParam: null },
    ],
    [
      'a link of HAL',
      { _links: { self: { href: '/x' }, next: { href: '/x?page=2' } }, data },
      {},
      { kind: 'link', next: '_links.next.href', sizeParam: null },
    ],
    [
      'a token',
      { nextPageToken: 'abc', data },
      {},
      { kind: 'token', tokenParam: 'pageToken', next: 'nextPageToken', sizeParam: null },
    ],
    [
      'a token in snake case, and the size',
      { next_page_token: 'abc', page_size: 50, data },
      {},
      { kind: 'token', tokenParam: 'page_token', next: 'next_page_token', sizeParam: 'page_size', size: 50 },
    ],
    [
      'a cursor',
      { nextCursor: 'abc', data },
      {},
      { kind: 'token', tokenParam: 'cursor', next: 'nextCursor', sizeParam: null },
    ],
    [
      'a cursor and a flag',
      { data, page_info: { hasNextPage: true, endCursor: 'abc' } },
      {},
      {
        kind: 'token',
        tokenParam: 'after',
        next: 'page_info.hasNextPage && page_info.endCursor',
        sizeParam: null,
      },
    ],
    [
      'an offset, a total of all and one of what a filter leaves',
      { offset: 0, total_count: 300, filter_count: 120, data },
      {},
      { kind: 'offset', offsetParam: 'offset', total: 'filter_count', sizeParam: null },
    ],
    [
      'an offset and a total',
      { startAt: 0, maxResults: 25, total: 120, isLast: false, data },
      {},
      { kind: 'offset', offsetParam: 'startAt', total: 'total', sizeParam: 'maxResults', size: 25 },
    ],
    [
      'a number and a total',
      { data, metadata: { index: 0, size: 25, total_data: 120, total_pages: 5 } },
      {},
      { kind: 'page', pageParam: 'index', firstPage: 0, total: 'metadata.total_data', sizeParam: 'size', size: 25 },
    ],
    [
      'a number under a name that the parameter does not have',
      { data, meta: { current_page: 1, next_page: null, next_page_number: null, per_page: 25, count: 25 } },
      {},
      { kind: 'page', pageParam: 'page', firstPage: 1, total: 'meta.count', sizeParam: 'per_page', size: 25 },
    ],
    [
      'a total alone',
      { total_count: 120, data },
      {},
      { kind: 'offset', offsetParam: 'offset', total: 'total_count', sizeParam: null },
    ],
    [
      'a total in a header',
      ITEMS,
      { 'x-total-count': '120' },
      { kind: 'offset', offsetParam: 'offset', totalHeader: 'x-total-count', sizeParam: null },
    ],
    [
      'the count of its own items, and a total',
      { count: 25, total: 120, skip: 0, data },
      {},
      { kind: 'offset', offsetParam: 'skip', total: 'total', sizeParam: null },
    ],
    [
      'a total that is not the length of the page',
      { count: 25, resultCount: 120, data },
      {},
      { kind: 'offset', offsetParam: 'offset', total: 'resultCount', sizeParam: null },
    ],
  ];
  for (const [what, body, headers, expected] of platforms) {
    it(`by ${what}`, () => {
      expect(guess(body, headers)[0]).to.deep.equal(expected);
    });
  }

  it('is nothing where a page shows no further pages, or all items came', () => {
    expect(guess({ data })).to.deep.equal([]);
    expect(guess({ total_count: 25, data })).to.deep.equal([]);
  });

  it('is a setting that settings take, whatever the page holds', () => {
    const key = fc.constantFrom(
      'next',
      'nextCursor',
      'total',
      'count',
      'has_more',
      'page',
      'offset',
      'limit',
      'meta',
      'data',
      'a b',
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(
          null,
          '',
          'abc',
          '/x?limit=5',
          'https://a.example/x?size=99999999',
          0,
          1,
          120,
          true,
          false,
          [],
        ),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    const headers = fc.dictionary(
      fc.constantFrom('link', 'x-total-count'),
      fc.constantFrom('</a?limit=0>; rel=next', '<', '5', 'x'),
    );
    fc.assert(
      fc.property(fc.oneof(tree, fc.jsonValue()), headers, fc.nat(200), (body, sent, count) => {
        const posted = count % 2 === 0 ? undefined : body;
        for (const { pagination, likely } of guessFromPage({ body, headers: sent, count, posted })) {
          PaginationSettings.parse(pagination ?? likely);
        }
      }),
      { numRuns: 500 },
    );
  });
});
