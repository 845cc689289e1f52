import { expect } from 'chai';
import { createItemStore } from '../../../src/mcp/tools/item-store.ts';

const bytes = (id: string) => Buffer.from(`[{"id":"${id}"}]`);
const SIZE = bytes('a').length;

describe('the store of parsed items', () => {
  it('parses the same bytes once, also for several who ask at a time', async () => {
    const items = createItemStore(1000);
    const held = bytes('a');
    const [first, second] = await Promise.all([items(held), items(held)]);
    expect(first)
      .to.equal(second)
      .and.to.deep.equal([{ id: 'a' }]);
    expect(await items(held)).to.equal(first);
    expect(await items(bytes('a'))).not.to.equal(first);
  });

  it('lets go of what was not asked for for longest', async () => {
    const items = createItemStore(2 * SIZE);
    const [a, b, c] = ['a', 'b', 'c'].map(bytes) as [Buffer, Buffer, Buffer];
    const first = { a: await items(a), b: await items(b) };
    expect(await items(a)).to.equal(first.a);
    await items(c);
    expect(await items(a)).to.equal(first.a);
    expect(await items(b)).not.to.equal(first.b);
  });

  it('keeps nothing that is larger than its bound', async () => {
    const items = createItemStore(SIZE - 1);
    const large = bytes('a');
    expect(await items(large)).not.to.equal(await items(large));
  });
});
