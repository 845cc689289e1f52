import { expect } from 'chai';
import fc from 'fast-check';
import { PaginationSettings } from '../../../src/core/config/schema/resource/pagination-settings.ts';
import { guessFromPage } from '../../../src/setup/probe/setting-hints.ts';

const data = Array.from({ length: 25 }, (_, index) => ({ id: index }));
const guess = (body: object, headers: Record<string, string> = {}) =>
  guessFromPage({ body, headers, count: 25 }).map(({ pagination }) => pagination);

const BY_LINK = { kind: 'link', sizeParam: null };
const BY_TOKEN = { kind: 'token', sizeParam: null };
const BY_OFFSET = { kind: 'offset', offsetParam: 'offset', sizeParam: null };
const NEXT = '</x?page=2&per_page=25>; rel="next", </x>; rel="first"';
const META = { current_page: 1, next_page: null, next_page_number: null, per_page: 25, count: 25 };
const INDEX = { index: 0, size: 25, total_data: 120, total_pages: 5 };

describe('paging by the first page', () => {
  const pages: readonly (readonly [string, object, object, Record<string, string>?])[] = [
    ['a Link header', data, { kind: 'link', sizeParam: null }, { link: NEXT }],
    [
      'a link in the body',
      { count: 120, next: 'https://a.example/x?limit=25&offset=25', previous: null, data },
      { kind: 'link', next: 'next', sizeParam: null },
    ],
    ['a link of OData', { '@odata.nextLink': '/x?$skiptoken=a', data }, { ...BY_LINK, next: '"@odata.nextLink"' }],
    ['a link of HAL', { _links: { next: { href: '/x?page=2' } }, data }, { ...BY_LINK, next: '_links.next.href' }],
    ['a token', { nextPageToken: 'abc', data }, { ...BY_TOKEN, tokenParam: 'pageToken', next: 'nextPageToken' }],
    [
      'a token in snake case',
      { next_page_token: 'abc', page_size: 50, data },
      { kind: 'token', tokenParam: 'page_token', next: 'next_page_token', sizeParam: null },
    ],
    ['a cursor', { nextCursor: 'abc', data }, { ...BY_TOKEN, tokenParam: 'cursor', next: 'nextCursor' }],
    [
      'a cursor and a flag',
      { data, page_info: { hasNextPage: true, endCursor: 'abc' } },
      { ...BY_TOKEN, tokenParam: 'after', next: 'page_info.hasNextPage && page_info.endCursor' },
    ],
    [
      'an offset, and the total of what a filter keeps',
      { offset: 0, total_count: 300, filter_count: 120, data },
      { ...BY_OFFSET, total: 'filter_count' },
    ],
    [
      'an offset and a total',
      { startAt: 0, maxResults: 25, total: 120, isLast: false, data },
      { kind: 'offset', offsetParam: 'startAt', total: 'total', sizeParam: null },
    ],
    [
      'a page number and a total',
      { data, metadata: INDEX },
      { kind: 'page', pageParam: 'index', firstPage: 0, total: 'metadata.total_data', sizeParam: null },
    ],
    [
      'a page number that is named otherwise than its parameter',
      { data, meta: META },
      { kind: 'page', pageParam: 'page', firstPage: 1, total: 'meta.count', sizeParam: null },
    ],
    ['a total alone', { total_count: 120, data }, { ...BY_OFFSET, total: 'total_count' }],
    ['a total in a header', data, { ...BY_OFFSET, totalHeader: 'x-total-count' }, { 'x-total-count': '120' }],
    [
      'a total beside the length of the page',
      { count: 25, total: 120, skip: 0, data },
      { ...BY_OFFSET, offsetParam: 'skip', total: 'total' },
    ],
  ];
  for (const [what, body, expected, headers] of pages) {
    it(`is guessed by ${what}`, () => {
      expect(guess(body, headers)[0]).to.deep.equal(expected);
    });
  }

  it('is not guessed if nothing shows further pages, or all items came', () => {
    expect(guess({ data })).to.deep.equal([]);
    expect(guess({ total_count: 25, data })).to.deep.equal([]);
  });

  it('is always a valid setting', () => {
    const keys = ['next', 'nextCursor', 'total', 'count', 'has_more', 'page', 'offset', 'limit', 'meta', 'data', 'a b'];
    const scalars = [null, '', 'abc', '/x?limit=5', 'https://a.example/x?size=99999999', 0, 1, 120, true, false, []];
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(...scalars),
        fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    const links = fc.constantFrom('</a?limit=0>; rel=next', '<', '5', 'x');
    const headers = fc.dictionary(fc.constantFrom('link', 'x-total-count'), links);
    fc.assert(
      fc.property(fc.oneof(tree, fc.jsonValue()), headers, fc.nat(200), (body, sent, count) => {
        for (const { pagination } of guessFromPage({ body, headers: sent, count })) {
          PaginationSettings.parse(pagination);
        }
      }),
      { numRuns: 500 },
    );
  });
});
