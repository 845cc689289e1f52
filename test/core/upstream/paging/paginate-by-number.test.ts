import { expect } from 'chai';
import type { ListRequest } from '../../../../src/core/upstream/paging/list-read.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { type Item, itemsUpTo, reasonOf, type SimulatedPage, simulate } from './platform.ts';
import { type Query, type Reply, readList } from './read-list.ts';

/** A platform of 10 items in pages of 4 whose answers are mangled. */
const mangled = (mangle: (page: SimulatedPage, request: number) => Partial<SimulatedPage>) =>
  simulate({
    kind: 'offset with total',
    items: itemsUpTo(10),
    size: 4,
    mangle: (page, request) => ({ ...page, ...mangle(page, request) }),
  });

const MISSING = 'the page has no total: pagination.total does not lead to a whole number: correct or remove it';

describe('pages of a known total', () => {
  it('are invalid where the first page lacks the total or has something else in its place', async () => {
    for (const total of [undefined, null, '', 'ten', '1e1', '-1', -1, 1.5, 2 ** 53, '9'.repeat(20), true, ['10']]) {
      const platform = mangled(() => ({ body: { total } }));
      expect(await reasonOf(platform), String(total)).to.equal(MISSING);
      expect(platform.targets).to.have.length(1);
    }
  });

  it('are invalid where the first page is empty or longer than the total', async () => {
    const reason = (items: number, total: number) =>
      `the first page has ${items} items, but the total is ${total}: check pagination.total`;
    expect(await reasonOf(mangled(() => ({ items: [] })))).to.equal(reason(0, 10));
    expect(await reasonOf(mangled(() => ({ body: { total: 3 } })))).to.equal(reason(4, 3));
  });

  it('are invalid where a page, or the last, has more or fewer items than are left for it', async () => {
    const more = ({ items }: SimulatedPage) => [...items, { id: 99, name: 'one too many' }];
    const fewer = ({ items }: SimulatedPage) => items.slice(1);
    for (const [at, change, figures] of [
      [1, more, 'page 2 has 5 items instead of 4'],
      [1, fewer, 'page 2 has 3 items instead of 4'],
      [2, more, 'page 3 has 3 items instead of 2'],
      [2, fewer, 'page 3 has 1 items instead of 2'],
    ] as const) {
      const platform = mangled((page, request) => ({ items: request === at ? change(page) : page.items }));
      expect(await reasonOf(platform)).to.contain(figures);
    }
  });
});

describe('pages by number', () => {
  it('are invalid where one in the middle is shorter than the first, or a later one longer', async () => {
    const more = { id: 99, name: 'one too many' };
    for (const [at, count, change, figures] of [
      [0, 20, (items: readonly Item[]) => items.slice(1), 'first has 4 items, page 1 has 4 and page 2 has 5'],
      [1, 20, (items: readonly Item[]) => items.slice(1), 'first has 5 items, page 2 has 4 and page 3 has 5'],
      [1, 10, (items: readonly Item[]) => [...items, more], 'first has 5 items, page 1 has 5 and page 2 has 6'],
    ] as const) {
      const platform = simulate({
        ...{ kind: 'page', items: itemsUpTo(count), size: 5 },
        mangle: (page, request) => (request === at ? { ...page, items: change(page.items) } : page),
      });
      expect(await reasonOf(platform))
        .to.contain(figures)
        .and.to.contain('pagination.sizeParam');
    }
  });
});

describe('what comes behind the last page', () => {
  const SIZED = { sizeParam: 'size', size: 5, concurrency: 1 } as const;
  const BY_NUMBER = { kind: 'page', ...SIZED, pageParam: 'page', firstPage: 1 } as const;
  const BY_OFFSET = { kind: 'offset', ...SIZED, offsetParam: 'offset' } as const;

  /** Reads a list of so many items from a platform that replies so behind its last page. */
  async function read(
    count: number,
    behind: number | 'last' | 'first',
    pagination: Pagination = BY_NUMBER,
    more: Partial<ListRequest> = {},
  ) {
    const reply = (query: Query): Reply => {
      const asked = query('offset') ?? (Number(query('page')) - 1) * 5;
      if (asked >= count && typeof behind === 'number') return behind;
      const last = Math.max(0, Math.ceil(count / 5) - 1) * 5;
      const from = asked < count ? asked : behind === 'last' ? last : 0;
      return { from, to: Math.min(from + 5, count), idOf: String, idsMayRepeat: false };
    };
    return (await readList(pagination, reply, more)).result;
  }

  it('is the end after a page that is shorter than the first, whatever it is', async () => {
    for (const behind of [400, 404, 410, 416, 422, 'last', 'first'] as const) {
      expect(await read(13, behind), `${behind}`).to.equal(13);
    }
    for (const status of [400, 404, 416]) {
      expect(await read(3, status)).to.equal(3);
      expect(await read(13, status, BY_OFFSET)).to.equal(13);
    }
    expect(await read(13, 500)).to.be.a('string');
  });

  it('is the end after a full page only if settings say so', async () => {
    for (const behind of [400, 404, 416, 'last', 'first'] as const) {
      expect(await read(10, behind), `${behind}`).to.be.a('string');
      const beyondEnd = typeof behind === 'number' ? 'refused' : 'repeated';
      expect(await read(10, behind, { ...BY_NUMBER, beyondEnd }), `${behind}`).to.equal(10);
    }
    expect(await read(10, 404, { ...BY_OFFSET, beyondEnd: 'refused' })).to.equal(10);
  });

  it('is an error that names the cure if it is a refusal', async () => {
    for (const [behind, pagination, cure] of [
      [404, BY_NUMBER, 'divide the list by query or lists'],
      [400, BY_OFFSET, 'set pagination.beyondEnd: refused'],
      [400, { kind: 'token', ...SIZED, tokenParam: 'page', next: () => 3 }, 'kind: link if the platform'],
    ] as const)
      expect(await read(10, behind, pagination), `${behind}`).to.contain(cure);
  });

  it('is the end if only first pages come, where settings say so and confirmation can ask whether the place is read', async () => {
    const post = { body: undefined, isRepeatable: false };
    for (const count of [3, 5]) {
      for (const pagination of [BY_NUMBER, BY_OFFSET]) {
        const repeated = { ...pagination, beyondEnd: 'repeated' } as const;
        expect(await read(count, 'first', repeated)).to.equal(count);
        expect(await read(count, 'first', repeated, { post })).to.contain('repeats an item');
        expect(await read(count, 'first', pagination)).to.contain('repeats an item');
      }
    }
  });
});
