import { expect } from 'chai';
import { itemsUpTo, readAll, type SimulatedPage, simulate } from './platform.ts';

/** A platform of 10 items in pages of 4 whose answers are mangled. */
const mangled = (mangle: (page: SimulatedPage, request: number) => Partial<SimulatedPage>) =>
  simulate({
    kind: 'offset with total',
    items: itemsUpTo(10),
    size: 4,
    mangle: (page, request) => ({ ...page, ...mangle(page, request) }),
  });

const failureOf = async (platform: ReturnType<typeof mangled>) => {
  const error = await readAll(platform).catch((reason) => reason);
  expect(error).to.have.property('code', 'upstream_invalid');
  return error.reason;
};

describe('pages of a known total', () => {
  it('read the total as a number or as digits', async () => {
    for (const total of [10, '10']) expect(await readAll(mangled(() => ({ body: { total } })))).to.have.length(10);
  });

  it('are invalid where the first page lacks the total or has something else in its place', async () => {
    for (const total of [undefined, null, '', 'ten', '1e1', '-1', -1, 1.5, 2 ** 53, '9'.repeat(20), true, ['10']]) {
      const platform = mangled(() => ({ body: { total } }));
      expect(await failureOf(platform), String(total)).to.equal('the page does not say the total');
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
      expect(await failureOf(platform(value))).to.equal('the page does not say the total');
    }
  });

  it('are one page where the first one holds all, and where there is nothing', async () => {
    for (const count of [0, 4]) {
      const platform = simulate({ kind: 'offset with total', items: itemsUpTo(count), size: 4 });
      expect(await readAll(platform)).to.have.length(count);
      expect(platform.targets).to.have.length(1);
    }
  });

  it('are invalid where the first page is empty or longer than the total', async () => {
    const reason = 'the first page does not fit the total';
    expect(await failureOf(mangled(() => ({ items: [] })))).to.equal(reason);
    expect(await failureOf(mangled(() => ({ body: { total: 3 } })))).to.equal(reason);
  });

  it('are invalid where a later page tells another total or none', async () => {
    for (const [total, reason] of [
      [9, 'the total changed while the list was read'],
      [11, 'the total changed while the list was read'],
      [undefined, 'the page does not say the total'],
    ] as const) {
      const platform = mangled((page, request) => ({ body: { ...page.body, total: request === 2 ? total : 10 } }));
      expect(await failureOf(platform)).to.equal(reason);
    }
  });

  it('are invalid where a page is not full or the last has not what is left', async () => {
    for (const at of [1, 2]) {
      const short = mangled((page, request) => ({ items: request === at ? page.items.slice(1) : page.items }));
      expect(await failureOf(short)).to.equal('the pages do not add up to the total');
    }
    const lying = mangled(() => ({ body: { total: 12 } }));
    expect(await failureOf(lying)).to.equal('the pages do not add up to the total');
  });
});
