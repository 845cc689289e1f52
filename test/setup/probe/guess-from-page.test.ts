import { expect } from 'chai';
import fc from 'fast-check';
import { PaginationSettings } from '../../../src/core/config/schema/resource/pagination-settings.ts';
import { guessFromPage } from '../../../src/setup/probe/setting-hints.ts';

const data = Array.from({ length: 25 }, (_, index) => ({ id: index }));
const guess = (body: object, headers: Record<string, string> = {}) =>
  guessFromPage({ body, headers, count: 25 }).map(({ pagination }) => pagination);

const NEXT = '</x?page=2&per_page=25>; rel="next", </x>; rel="first"';
const META = { current_page: 1, next_page: null, next_page_number: null, per_page: 25, count: 25 };
const INDEX = { index: 0, size: 25, total_data: 120, total_pages: 5 };
const LINKED = { count: 120, next: 'https://a.example/x?limit=25&offset=25', previous: null, data };
const JIRA = { startAt: 0, maxResults: 25, total: 120, isLast: false, data };
const byLink = (next?: string) => ({ kind: 'link', ...(next && { next }) });
const byToken = (tokenParam: string, next: string) => ({ kind: 'token', tokenParam, next });
const byOffset = (total: object, offsetParam = 'offset') => ({ kind: 'offset', offsetParam, ...total });
const byPage = (pageParam: string, firstPage: number, total: string) => ({ kind: 'page', pageParam, firstPage, total });

describe('paging by the first page', () => {
  /** Of each page: its body, the guess without `sizeParam: null`, and its headers. */
  const pages: readonly (readonly [string, object, object, Record<string, string>?])[] = [
    ['a Link header', data, byLink(), { link: NEXT }],
    ['a link in the body', LINKED, byLink('next')],
    ['a link of OData', { '@odata.nextLink': '/x?$skiptoken=a', data }, byLink('"@odata.nextLink"')],
    ['a link of HAL', { _links: { next: { href: '/x?page=2' } }, data }, byLink('_links.next.href')],
    ['a token', { nextPageToken: 'abc', data }, byToken('pageToken', 'nextPageToken')],
    [
      'a token in snake case',
      { next_page_token: 'abc', page_size: 50, data },
      byToken('page_token', 'next_page_token'),
    ],
    ['a cursor', { nextCursor: 'abc', data }, byToken('cursor', 'nextCursor')],
    [
      ...(['a cursor and a flag', { data, page_info: { hasNextPage: true, endCursor: 'abc' } }] as const),
      byToken('after', 'page_info.hasNextPage && page_info.endCursor'),
    ],
    [
      ...(['an offset, and the total of what a filter keeps'] as const),
      ...([{ offset: 0, total_count: 300, filter_count: 120, data }, byOffset({ total: 'filter_count' })] as const),
    ],
    ['an offset and a total', JIRA, byOffset({ total: 'total' }, 'startAt')],
    ['a page number and a total', { data, metadata: INDEX }, byPage('index', 0, 'metadata.total_data')],
    ['a page number of another name than its parameter', { data, meta: META }, byPage('page', 1, 'meta.count')],
    ['a total alone', { total_count: 120, data }, byOffset({ total: 'total_count' })],
    ['a total in a header', data, byOffset({ totalHeader: 'x-total-count' }), { 'x-total-count': '120' }],
    [
      'a total beside the length of the page',
      { count: 25, total: 120, skip: 0, data },
      byOffset({ total: 'total' }, 'skip'),
    ],
  ];
  for (const [what, body, expected, headers] of pages) {
    it(`is guessed by ${what}`, () => {
      expect(guess(body, headers)[0]).to.deep.equal({ ...expected, sizeParam: null });
    });
  }

  it('is not guessed if nothing shows further pages, or all items were returned', () => {
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
