import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { type ListRequest, textDigestsOf, viewOf } from '../../../../src/core/upstream/paging/list-read.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { firstTarget, paginate } from '../../../../src/core/upstream/paging/paginate.ts';
import type { PageTarget } from '../../../../src/core/upstream/upstream.ts';
import { itemsUpTo, readAll, simulate } from './platform.ts';

type Query = (name: string) => number | undefined;

/** What a platform replies: items of its list from one up to another, with members beside them; or a status. */
type Reply = { readonly from?: number; readonly to: number; readonly statements?: object } | number;

interface Outcome {
  /** Items of the list that was read, or the reason of the error. */
  readonly result: number | string;
  readonly targets: readonly string[];
}

/** Reads the list of a platform that replies so. */
async function read(
  pagination: Pagination,
  reply: (query: Query) => Reply,
  more: Partial<ListRequest> = {},
): Promise<Outcome> {
  const targets: string[] = [];
  const list: ListRequest = {
    baseUrl: 'https://platform.example',
    path: '/list',
    query: {},
    pagination,
    maxItems: 1000,
    maxPages: 1000,
    maxNextBytes: 4096,
    ...more,
  };
  const fetchPage = async ({ target }: PageTarget) => {
    targets.push(target);
    const { searchParams } = new URL(target, list.baseUrl);
    const replied = reply((name) => (searchParams.has(name) ? Number(searchParams.get(name)) : undefined));
    if (typeof replied === 'number') throw new GatewayError('upstream_refused', { upstreamStatus: replied });
    const from = replied.from ?? 0;
    const items = Array.from({ length: Math.max(0, replied.to - from) }, (_, index) => `${from + index}`);
    const body = { items, ...replied.statements };
    const view = viewOf(pagination, { body, items, headers: {}, enclosing: [{ fields: [], value: body }] });
    return { ...view, ids: textDigestsOf(items) };
  };
  const { signal } = new AbortController();
  try {
    let result = 0;
    const first = await fetchPage(firstTarget(list));
    for await (const { count } of paginate(list, first, fetchPage, signal)) result += count;
    return { result, targets };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).to.equal('upstream_invalid');
    return { result: error.reason ?? '', targets };
  }
}

const member = (name: string) => (body: unknown) => Object(body)[name];
const OFF = { ignoreSigns: ['fullPage'] } as const;

describe('a list of one page that has a round number of items', () => {
  const NONE = { kind: 'none' } as const;
  const SIZES = [
    ...['limit', 'per_page', 'page_size', 'pageSize', 'size', '$top', 'max_results', 'maxResults', 'first', 'count'],
    ...['perPage', 'page[size]', 'rows', 'take'],
  ];

  it(`is an error if the platform pages and shows no sign, by ${SIZES.join(', ')}`, async () => {
    for (const name of SIZES) {
      const paged = (query: Query) => ({ to: query(name) ?? 20 });
      const { result, targets } = await read(NONE, paged);
      expect(result, name)
        .to.contain('the list has 20 items')
        .and.to.contain('returned 7')
        .and.to.contain('pagination.kind');
      expect(result).to.match(/pagination\.ignoreSigns: \[fullPage\][^:]*$/);
      expect(targets).to.have.length(2);
      expect((await read({ ...NONE, ...OFF }, paged)).result).to.equal(20);
    }
  });

  it('is whole where the platform ignores such parameters, or refuses them, and an error where it fails', async () => {
    const answering = (reply: Reply) => read(NONE, (query) => (query('limit') === undefined ? { to: 120 } : reply));
    for (const reply of [{ to: 120 }, 400, 404, 414, 422]) {
      const { result, targets } = await answering(reply);
      expect([result, targets.length], JSON.stringify(reply)).to.deep.equal([120, 2]);
    }
    expect(await answering(503).catch((error) => error.message)).to.contain('upstream_refused');
  });

  it('is requested once more only if it is long, round and shows no end, by a GET', async () => {
    const single: readonly [Reply, Partial<ListRequest>?][] = [
      [{ to: 10 }],
      [{ to: 25 }],
      [{ to: 0 }],
      [{ to: 20, statements: { total: 20 } }],
      [{ to: 20, statements: { has_more: false } }],
      [{ to: 20, statements: { next: null } }],
      [{ to: 20 }, { post: { body: undefined, isRepeatable: true } }],
    ];
    for (const [reply, more] of single) {
      expect((await read(NONE, () => reply, more)).targets, JSON.stringify(reply)).to.have.length(1);
    }
    // It may be that of the page.
    expect((await read(NONE, () => ({ to: 20, statements: { count: 20 } }))).targets).to.have.length(2);
  });

  it('is requested with parameters that the query does not have, within maxPages', async () => {
    const query = { limit: '100', active: 'true' };
    const { result, targets } = await read(NONE, (asked) => ({ to: Math.min(20, asked('limit') ?? 10) }), {
      query,
      maxPages: 1,
    });
    expect(result).to.equal(20);
    expect(targets.at(-1)).to.match(/^\/list\?limit=100&active=true&%24limit=7&per_page=7&/);
  });

  it('is an error where the size in the query is none that the platform reads', async () => {
    const { result } = await read(NONE, (asked) => ({ to: asked('per_page') ?? 30 }), { query: { limit: '100' } });
    expect(result).to.contain('the list has 30 items');
  });
});

const SIZED = { sizeParam: 'limit', size: 100, concurrency: 1 } as const;
const PAGE = { kind: 'page', ...SIZED, pageParam: 'page', firstPage: 1 } as const;

describe('a total that settings name and that counts the items of the page', () => {
  const BY_NUMBER = { offset: { kind: 'offset', ...SIZED, offsetParam: 'offset' }, page: PAGE } as const;
  /** Cuts its pages at 25 items, and counts them. */
  const capped =
    (total: number, of: (count: number) => object) =>
    (query: Query): Reply => {
      const from = query('offset') ?? ((query('page') ?? 1) - 1) * 25;
      const to = Math.min(total, from + 25);
      return { from, to, statements: of(Math.max(0, to - from)) };
    };

  for (const [kind, settings] of Object.entries(BY_NUMBER)) {
    it(`is an error by ${kind} where the platform cuts its pages below the size`, async () => {
      const pagination = { ...settings, total: member('count') };
      const counting = (total: number) => capped(total, (count) => ({ count }));
      const wrong = await read(pagination, counting(120));
      expect(wrong.result)
        .to.contain('the total is 25')
        .and.to.contain('returned 25')
        .and.to.contain('pagination.total');
      const right = await read(pagination, counting(25));
      // What is behind it, and whether it is where the list begins.
      expect(right).to.include({ result: 25 }).and.to.have.property('targets').with.length(3);
    });

    it(`is accepted by ${kind} if it is no count, or the platform refuses the next page`, async () => {
      const total = capped(25, () => ({ total: 25 }));
      expect((await read({ ...settings, total: member('total') }, total)).targets).to.have.length(1);
      for (const status of [400, 404, 422]) {
        const counts = capped(25, () => ({ count: 25 }));
        const refusing = (query: Query) =>
          (query('offset') ?? 0) > 0 || (query('page') ?? 1) > 1 ? status : counts(query);
        expect((await read({ ...settings, total: member('count') }, refusing)).result).to.equal(25);
      }
    });
  }
});

describe('a list by page without a total', () => {
  const numbered =
    (total: number, firstPage: number) =>
    (query: Query): Reply => {
      const size = query('limit') ?? 100;
      const from = ((query('page') ?? firstPage) - firstPage) * size;
      return { from, to: Math.min(total, from + size) };
    };

  it('is an error where the platform counts its pages from 0', async () => {
    // The first 100 items are missing each time: pages are full, short, or several.
    for (const total of [200, 120, 250, 102]) {
      const { result } = await read(PAGE, numbered(total, 0));
      expect(result)
        .to.contain(`${total - 100} items`)
        .and.to.contain('pagination.firstPage');
      expect((await read({ ...PAGE, ...OFF }, numbered(total, 0))).result).to.equal(total - 100);
    }
  });

  it('is complete if it is counted as settings define, full or not', async () => {
    for (const firstPage of [0, 1] as const) {
      for (const total of [1, 2, 3, 20, 99, 100, 101, 200, 250]) {
        const { result } = await read({ ...PAGE, firstPage }, numbered(total, firstPage));
        expect(result, `${total} from ${firstPage}`).to.equal(total);
      }
    }
  });

  it('is an error where the platform counts from 0 and ignores the size, or none is sent', async () => {
    const ignoring = (query: Query): Reply => numbered(120, 0)((name) => (name === 'limit' ? 100 : query(name)));
    for (const sizeParam of ['limit', null]) {
      const { result, targets } = await read({ ...PAGE, sizeParam }, ignoring);
      for (const part of ['the list has 20 items', 'without page=1', 'pagination.firstPage'])
        expect(result).to.contain(part);
      expect(targets.at(-1)).to.equal(sizeParam === null ? '/list' : '/list?limit=100');
    }
  });

  it('is an error where it is empty, and the first page without the parameter is not', async () => {
    const OFFSET = { ...PAGE, kind: 'offset', offsetParam: 'page' } as const;
    for (const pagination of [PAGE, OFFSET]) {
      const { result } = await read(pagination, (query) => ({ to: query('page') === undefined ? 3 : 0 }));
      expect(result).to.contain('the list has 0 items').and.to.contain('returned 3');
      expect((await read(pagination, () => ({ to: 0 }))).result).to.equal(0);
      expect((await read(pagination, (query) => (query('page') === undefined ? 400 : { to: 0 }))).result).to.equal(0);
    }
  });

  it('is an error if an empty page follows a full one, and shorter pages have no second one', async () => {
    const oneFull = (query: Query): Reply => ({ to: query('page') === 1 ? (query('limit') ?? 100) : 0 });
    const { result, targets } = await read(PAGE, oneFull);
    expect(result).to.contain('a full one of 100 items').and.to.contain('with 1 item, returned 0');
    expect(targets.at(-1)).to.equal('/list?limit=99&page=2');
  });

  it('is whole where the platform refuses a page behind the last, and an error where it refuses the second', async () => {
    const refusing = (query: Query): Reply => (query('limit') === 100 ? numbered(20, 1)(query) : 404);
    expect((await read(PAGE, refusing)).result).to.equal(20);
    const full = (query: Query): Reply => (query('limit') === 100 ? numbered(100, 1)(query) : 422);
    expect((await read(PAGE, full)).result).to.contain('was refused');
  });
});

describe('a POST that may write', () => {
  it('is not repeated as a test: a full first page without an end is an error that names retryPost', async () => {
    for (const kind of ['token', 'link'] as const) {
      const platform = simulate({ kind, items: itemsUpTo(5), size: 5, posted: true, repeatable: false });
      const error = await readAll(platform).catch((reason) => reason);
      expect(error).to.have.property('code', 'upstream_invalid');
      expect(error.reason).to.contain('fullPage').and.to.contain('retryPost: true');
      expect(platform.targets).to.have.length(1);
    }
  });

  it('is not repeated with offset and page either', async () => {
    for (const kind of ['offset', 'page', 'offset with total'] as const) {
      const platform = simulate({ kind, items: itemsUpTo(5), size: 5, posted: true, repeatable: false });
      expect(await readAll(platform)).to.have.length(5);
      expect(platform.targets).to.have.length(kind === 'offset with total' ? 1 : 2);
    }
  });
});
