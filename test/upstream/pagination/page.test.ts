import { expect } from 'chai';
import { itemsUpTo, readAll, simulate } from './platform.ts';

describe('pages by number', () => {
  it('are asked for up to an empty one, where no total is known', async () => {
    const platform = simulate({ kind: 'page', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    expect(platform.targets.map((target) => target.split('?')[1])).to.deep.equal([
      'installed=true&size=5&page=1',
      'installed=true&size=5&page=2',
      'installed=true&size=5&page=3',
      'installed=true&size=5&page=4',
    ]);
  });

  it('may be counted from 0', async () => {
    const { list, ...platform } = simulate({ kind: 'page with total', items: itemsUpTo(0), size: 5 });
    const { pagination } = list;
    if (pagination.kind !== 'page') throw new Error(pagination.kind);
    await readAll({ list, ...platform }, { pagination: { ...pagination, firstPage: 0 } });
    expect(platform.targets).to.deep.equal(['/base/v1/list?installed=true&size=5&page=0']);
  });

  it('are invalid where one in the middle is shorter or longer than the first', async () => {
    for (const short of [0, 1]) {
      const platform = simulate({
        kind: 'page',
        items: itemsUpTo(20),
        size: 5,
        mangle: (page, request) => (request === short ? { ...page, items: page.items.slice(1) } : page),
      });
      const error = await readAll(platform).catch((reason) => reason);
      expect(error).to.include({ code: 'upstream_invalid', reason: 'a page before the last is not full' });
    }
  });

  it('fetch as many as the total needs, where it is known', async () => {
    const platform = simulate({ kind: 'page with total', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    expect(platform.targets.map((target) => target.split('&page=')[1])).to.deep.equal(['1', '2', '3']);
  });
});
