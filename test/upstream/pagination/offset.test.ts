import { expect } from 'chai';
import { itemsUpTo, readAll, simulate } from './platform.ts';

describe('pages by offset', () => {
  it('skip what was received, up to an empty page, where no total is known', async () => {
    const platform = simulate({ kind: 'offset', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    expect(platform.targets.map((target) => target.split('?')[1])).to.deep.equal([
      'installed=true&size=5&offset=0',
      'installed=true&size=5&offset=3',
      'installed=true&size=5&offset=6',
      'installed=true&size=5&offset=7',
    ]);
  });

  it('go on from a page that was cut short', async () => {
    const items = itemsUpTo(7);
    const mangle = simulate({ kind: 'offset', items, size: 3 });
    const platform = simulate({
      kind: 'offset',
      items,
      size: 3,
      mangle: (page, request) => (request === 1 ? { ...page, items: page.items.slice(0, 1) } : page),
    });
    expect(await readAll(platform)).to.deep.equal(await readAll(mangle));
  });

  it('skip whole pages of the size that the platform serves, where a total is known', async () => {
    const platform = simulate({ kind: 'offset with total', items: itemsUpTo(7), size: 5, cap: 3 });
    expect(await readAll(platform)).to.have.length(7);
    expect(platform.targets.map((target) => target.split('&offset=')[1])).to.deep.equal(['0', '3', '6']);
  });
});
