import { expect } from 'chai';
import { type Item, itemsUpTo, readAll, reasonOf, type SimulatedPage, simulate } from './platform.ts';

/** A platform of 10 items in pages of 4 whose answers are mangled. */
const mangled = (mangle: (page: SimulatedPage, request: number) => Partial<SimulatedPage>) =>
  simulate({
    kind: 'offset with total',
    items: itemsUpTo(10),
    size: 4,
    mangle: (page, request) => ({ ...page, ...mangle(page, request) }),
  });

const MISSING = 'the page has no total: pagination.total does not lead to a whole number: correct it';

describe('pages of a known total', () => {
  it('read the total as a number or as digits', async () => {
    for (const total of [10, '10']) expect(await readAll(mangled(() => ({ body: { total } })))).to.have.length(10);
  });

  it('are invalid where the first page lacks the total or has something else in its place', async () => {
    for (const total of [undefined, null, '', 'ten', '1e1', '-1', -1, 1.5, 2 ** 53, '9'.repeat(20), true, ['10']]) {
      const platform = mangled(() => ({ body: { total } }));
      expect(await reasonOf(platform), String(total)).to.equal(MISSING);
      expect(platform.targets).to.have.length(1);
    }
  });

  it('find the total in a header, in any case, but not in a repeated one', async () => {
    const platform = (value: string | string[] | undefined) =>
      simulate({
        kind: 'page with total',
        items: itemsUpTo(3),
        size: 2,
        mangle: (page) => ({ ...page, headers: { 'x-total': value } }),
      });
    expect(await readAll(platform('3'))).to.have.length(3);
    for (const value of [undefined, '', '3, 3', ['3', '3']]) {
      expect(await reasonOf(platform(value))).to.contain('pagination.totalHeader does not lead to a whole number');
    }
  });

  it('are invalid where the first page is empty or longer than the total', async () => {
    const reason = (items: number, total: number) =>
      `the first page has ${items} items, but the total is ${total}: check pagination.total`;
    expect(await reasonOf(mangled(() => ({ items: [] })))).to.equal(reason(0, 10));
    expect(await reasonOf(mangled(() => ({ body: { total: 3 } })))).to.equal(reason(4, 3));
  });

  it('are invalid if a later page has another total or none', async () => {
    const changed = (total: number) =>
      `the total changed while the list was read: 10 on page 1, ${total} on page 3: check pagination.total`;
    for (const [total, reason] of [
      [9, changed(9)],
      [11, changed(11)],
      [undefined, MISSING],
    ] as const) {
      const platform = mangled((page, request) => ({ body: { ...page.body, total: request === 2 ? total : 10 } }));
      expect(await reasonOf(platform)).to.equal(reason);
    }
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
      expect(await reasonOf(platform)).to.equal(
        `${figures}, since the total is 10 and page 1 has 4: check pagination.total, pagination.sizeParam and pagination.offsetParam`,
      );
    }
    const lying = mangled(() => ({ body: { total: 12 } }));
    expect(await reasonOf(lying)).to.contain('page 3 has 2 items instead of 4, since the total is 12');
  });
});

describe('pages by offset', () => {
  it('send the end of a page, too, if settings name a parameter for it', async () => {
    for (const kind of ['offset', 'offset with total'] as const) {
      const platform = simulate({ kind, items: itemsUpTo(7), size: 5, cap: 3 });
      const { pagination } = platform.list;
      if (pagination.kind !== 'offset') throw new Error('not by offset');
      const asked = { pagination: { ...pagination, endParam: 'to' } };
      expect(await readAll(platform, asked)).to.deep.equal(itemsUpTo(7));
      const ends = platform.targets.map((target) => /offset=(\d+)&to=(\d+)$/.exec(target)?.slice(1).map(Number));
      expect(ends.slice(0, 3)).to.deep.equal([
        [0, 5],
        [3, 8],
        [6, 11],
      ]);
    }
  });

  it('skip the received items, up to an empty page, if no total is known', async () => {
    const platform = simulate({ kind: 'offset', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    const offsets = [0, 3, 6, 7].map((offset) => `/base/v1/list?installed=true&size=5&offset=${offset}`);
    expect(platform.targets).to.deep.equal(offsets);
  });
});

describe('pages by number', () => {
  it('are requested up to an empty one if no total is known', async () => {
    const platform = simulate({ kind: 'page', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    const first = '/base/v1/list?installed=true&size=5';
    expect(platform.targets).to.deep.equal([1, 2, 3, 4].map((page) => `${first}&page=${page}`));
  });

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
