import { expect } from 'chai';
import fc from 'fast-check';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { type Ask, findListings, type Reply } from '../../../src/setup/describe/platform-replies.ts';
import { type PagingGuess, proposePaging } from '../../../src/setup/guess/guess-paging.ts';
import { SEEDED } from '../../support/seed.ts';

const ITEMS = [
  { id: 1, name: 'a', description: null },
  { id: 2, name: 'b', description: 'x' },
];

/** A platform that answers with these bodies by path, and keeps what it was asked for. */
function platform(bodies: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const ask: Ask = async (path) => {
    asked.push(path);
    const body = bodies[path];
    return { status: body === undefined ? 404 : 200, headers: new Map(), body: body ?? { error: 'no' } };
  };
  return { ask, asked };
}

async function found(bodies: Readonly<Record<string, unknown>>, path: string) {
  const { ask, asked } = platform(bodies);
  const listings = await findListings(ask, path, RESOURCES);
  return { listings, asked, paths: listings.map((each) => each.path) };
}

describe('a platform that init reads', () => {
  it('is described by the list that a person named', async () => {
    const { listings, paths } = await found({ '/v1/things': { meta: {}, things: ITEMS } }, '/v1/things');
    expect(paths).to.deep.equal(['/v1/things']);
    expect(listings[0]?.items).to.equal('things');
    const members = [...(listings[0]?.item.members ?? [])].map(([name, { type }]) => `${name} ${type}`);
    expect(members).to.deep.equal(['id number', 'name text', 'description text']);
  });

  it('is looked at below the address that a person named, by the usual names', async () => {
    const bodies = { '/api/workspaces': ITEMS, '/api/playbooks': { data: ITEMS }, '/api/tools': ITEMS };
    const { paths } = await found(bodies, '/api/');
    expect(paths).to.deep.equal(['/api/workspaces', '/api/playbooks', '/api/tools']);
  });

  it('has no list where items lack an id, are none, or are no objects', async () => {
    const bodies = { '/projects': [{ size: 1 }, { size: 2 }], '/workflows': [], '/tools': ['a', 'b'], '/apps': null };
    expect((await found(bodies, '/')).paths).to.deep.equal([]);
  });

  it('is asked for a few dozens of lists at most', async () => {
    const { asked, paths } = await found({}, '/');
    expect(paths).to.deep.equal([]);
    expect(asked.length).to.be.within(10, 60);
  });

  it('is looked at for resources of other registries by their own names', async () => {
    const { ask } = platform({ '/runbooks': ITEMS });
    const [tools] = RESOURCES.filter(({ name }) => name === 'tools');
    const listings = await findListings(ask, '/', tools === undefined ? [] : [{ ...tools, name: 'runbooks' }]);
    expect(listings.map(({ path }) => path)).to.deep.equal(['/runbooks']);
  });
});

interface PagedPlatform extends Partial<Record<'size' | 'offset' | 'page' | 'token', string>> {
  readonly count: number;
  /** What it cuts pages at. */
  readonly most: number;
  readonly firstPage?: 0 | 1;
  readonly next?: 'header' | 'body' | undefined;
  readonly total?: 'header' | 'body' | undefined;
}

const MANY = Array.from({ length: 200 }, (_, index) => ({ id: index, name: `item ${index}` }));

function pagedPlatform({ count, most, size, offset, page, firstPage = 1, token, next, total }: PagedPlatform): Ask {
  return async (path, query = {}): Promise<Reply> => {
    if (path !== '/projects') return { status: 404, headers: new Map(), body: {} };
    const number = (name: string | undefined, otherwise: number) =>
      name !== undefined && query[name] !== undefined ? Number(query[name]) : otherwise;
    const length = Math.min(number(size, most), most);
    const begin = number(token, 0) || number(offset, 0) || Math.max(0, number(page, firstPage) - firstPage) * length;
    const items = MANY.slice(0, count).slice(begin, begin + length);
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

async function learn(of: PagedPlatform): Promise<PagingGuess | undefined> {
  const [listing] = await findListings(pagedPlatform(of), '/projects', RESOURCES);
  return listing && proposePaging(listing);
}

describe('paging by asking', () => {
  const by = (sizeParam: string) => ({ sizeParam, size: 100 });
  const offset = { kind: 'offset', offsetParam: 'offset', ...by('limit') };
  const page = { kind: 'page', pageParam: 'page' };
  const from1 = { ...page, firstPage: 1, ...by('per_page') };
  const token = { kind: 'token', tokenParam: 'pageToken', next: 'nextPageToken', ...by('pageSize') };
  const link = { kind: 'link', ...by('limit') };
  const totalHeader = 'x-total-count';
  const learnt: readonly (readonly [string, Partial<PagedPlatform>, object])[] = [
    ['by offset', { size: 'limit', offset: 'offset', total: 'body' }, { ...offset, total: 'total' }],
    ['by page from 1 on', { size: 'per_page', page: 'page', total: 'header' }, { ...from1, totalHeader }],
    ['by page from 0 on', { size: 'size', page: 'page', firstPage: 0 }, { ...page, firstPage: 0, ...by('size') }],
    ['by token', { size: 'pageSize', token: 'pageToken' }, token],
    ['by the Link header', { size: 'limit', next: 'header' }, link],
    ['by a link in the body', { size: 'limit', next: 'body' }, { ...link, next: 'next' }],
  ];
  for (const [name, given, expected] of learnt) {
    it(`is learnt ${name}`, async () => {
      expect((await learn({ count: 60, most: 25, ...given }))?.pagination).to.deep.equal(expected);
    });
  }

  it('is none, in doubt, if no parameter changes the reply', async () => {
    const found = await learn({ count: 7, most: 200 });
    expect(found?.pagination).to.deep.equal({ kind: 'none' });
    expect(found?.doubts).to.deep.equal(['whether the whole list is one page']);
  });

  for (const [name, given] of [
    ['what came may be a full page', { count: 60, most: 25 }],
    ['one item came', { count: 1, most: 25, size: 'limit', offset: 'offset' }],
  ] as const) {
    it(`is not decided where ${name}`, async () => {
      expect((await learn(given))?.isUnsafe).to.equal(true);
    });
  }

  it('takes no number for the total that is the length of the page', async () => {
    const ask: Ask = async (_path, query = {}) => {
      const items = MANY.slice(Number(query['offset'] ?? 0)).slice(0, Number(query['limit'] ?? 25));
      return { status: 200, headers: new Map(), body: { projects: items, count: items.length } };
    };
    const [listing] = await findListings(ask, '/projects', RESOURCES);
    expect(listing && proposePaging(listing).pagination).to.deep.equal(offset);
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
        const found = await learn(given as PagedPlatform);
        expect(found?.pagination.kind).not.to.equal('none');
      }),
    );
  });
});
