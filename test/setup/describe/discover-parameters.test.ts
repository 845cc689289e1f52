import { expect } from 'chai';
import fc from 'fast-check';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import type { Ask, Reply } from '../../../src/setup/describe/discover-parameters.ts';
import { findListings } from '../../../src/setup/describe/platform-replies.ts';
import type { PagingGuess } from '../../../src/setup/guess/guess-paging.ts';
import { proposePaging } from '../../../src/setup/guess/propose-paging.ts';
import { SEEDED } from '../../support/seed.ts';

interface Platform {
  readonly count: number;
  /** What it cuts pages at. */
  readonly most: number;
  readonly size?: string;
  readonly offset?: string;
  readonly page?: string;
  readonly firstPage?: 0 | 1;
  readonly token?: string;
  readonly next?: 'header' | 'body' | undefined;
  readonly total?: 'header' | 'body' | undefined;
}

const ITEMS = Array.from({ length: 200 }, (_, index) => ({ id: index, name: `item ${index}` }));

function platform({ count, most, size, offset, page, firstPage = 1, token, next, total }: Platform): Ask {
  return async (path, query = {}): Promise<Reply> => {
    if (path !== '/projects') return { status: 404, headers: new Map(), body: {} };
    const number = (name: string | undefined, otherwise: number) =>
      name !== undefined && query[name] !== undefined ? Number(query[name]) : otherwise;
    const length = Math.min(number(size, most), most);
    const begin = number(token, 0) || number(offset, 0) || Math.max(0, number(page, firstPage) - firstPage) * length;
    const items = ITEMS.slice(0, count).slice(begin, begin + length);
    const more = begin + length < count;
    const headers = new Map<string, string>();
    if (total === 'header') headers.set('x-total-count', String(count));
    if (next === 'header' && more) headers.set('link', `</projects?from=${begin + length}>; rel="next"`);
    const body = {
      projects: items,
      ...(total === 'body' && { total: count }),
      ...(token !== undefined && { nextPageToken: more ? String(begin + length) : '' }),
      ...(next === 'body' && { next: more ? `/projects?from=${begin + length}` : null }),
    };
    return { status: 200, headers, body };
  };
}

async function learn(of: Platform): Promise<PagingGuess | undefined> {
  const [listing] = await findListings(platform(of), '/projects', RESOURCES);
  return listing && proposePaging(listing);
}

describe('paging by asking', () => {
  for (const [name, given, expected] of [
    [
      'by offset',
      { size: 'limit', offset: 'offset', total: 'body' },
      { kind: 'offset', offsetParam: 'offset', sizeParam: 'limit', size: 100, total: 'total' },
    ],
    [
      'by page from 1 on',
      { size: 'per_page', page: 'page', total: 'header' },
      { kind: 'page', pageParam: 'page', firstPage: 1, sizeParam: 'per_page', size: 100, totalHeader: 'x-total-count' },
    ],
    [
      'by page from 0 on',
      { size: 'size', page: 'page', firstPage: 0 },
      { kind: 'page', pageParam: 'page', firstPage: 0, sizeParam: 'size', size: 100 },
    ],
    [
      'by token',
      { size: 'pageSize', token: 'pageToken' },
      { kind: 'token', tokenParam: 'pageToken', next: 'nextPageToken', sizeParam: 'pageSize', size: 100 },
    ],
    ['by the Link header', { size: 'limit', next: 'header' }, { kind: 'link', sizeParam: 'limit', size: 100 }],
    [
      'by a link in the body',
      { size: 'limit', next: 'body' },
      { kind: 'link', next: 'next', sizeParam: 'limit', size: 100 },
    ],
  ] as const satisfies readonly (readonly [string, Partial<Platform>, object])[]) {
    it(`is learnt ${name}`, async () => {
      expect((await learn({ count: 60, most: 25, ...given }))?.pagination).to.deep.equal(expected);
    });
  }

  it('is none where no parameter changes what comes, in doubt', async () => {
    const found = await learn({ count: 7, most: 200 });
    expect(found?.pagination).to.deep.equal({ kind: 'none' });
    expect(found?.doubts).to.deep.equal(['whether the whole list is one page']);
  });

  for (const [name, given] of [
    ['what came may be a full page', { count: 60, most: 25 }],
    ['one item came', { count: 1, most: 25, size: 'limit', offset: 'offset' }],
  ] as const) {
    it(`is not decided where ${name}`, async () => {
      expect((await learn(given))?.pagination).to.equal(undefined);
    });
  }

  it('takes no number for the total that is the length of the page', async () => {
    const ask: Ask = async (_path, query = {}) => {
      const items = ITEMS.slice(Number(query['offset'] ?? 0)).slice(0, Number(query['limit'] ?? 25));
      return { status: 200, headers: new Map(), body: { projects: items, count: items.length } };
    };
    const [listing] = await findListings(ask, '/projects', RESOURCES);
    expect(listing && proposePaging(listing).pagination).to.deep.equal({
      kind: 'offset',
      offsetParam: 'offset',
      sizeParam: 'limit',
      size: 100,
    });
  });

  it(`never takes a longer list for one page ${SEEDED}`, async () => {
    const option = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const platforms = fc.record({
      count: fc.integer({ min: 26, max: 200 }),
      most: fc.constantFrom(10, 20, 25),
      size: option('limit', 'per_page', 'odd_size'),
      offset: option('offset', 'skip', 'odd_offset'),
      page: option('page', 'odd_page'),
      firstPage: fc.constantFrom(0, 1),
      token: option('cursor', 'odd_token'),
      next: option('header', 'body'),
      total: option('header', 'body'),
    });
    await fc.assert(
      fc.asyncProperty(platforms, async (given) => {
        const found = await learn(given as Platform);
        expect(found?.pagination?.kind).not.to.equal('none');
      }),
    );
  });
});
