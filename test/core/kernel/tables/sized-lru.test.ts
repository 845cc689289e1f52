import { expect } from 'chai';
import { createSizedLru } from '../../../../src/core/kernel/tables.ts';

describe('a sized LRU', () => {
  const lru = () => createSizedLru<{ name: string }, { size: number }>({ maxSize: 10, sizeOf: ({ size }) => size });
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name })) as [{ name: string }, { name: string }, { name: string }];

  it('evicts the least recently used once sizes exceed the bound', () => {
    const held = lru();
    const value = { size: 4 };
    held.set(a, value);
    held.set(b, { size: 4 });
    expect(held.get(a)).to.equal(value);
    held.set(c, { size: 4 });
    expect(held.get(a)).to.equal(value);
    expect(held.get(b)).to.equal(undefined);
    expect(held.get({ name: 'a' })).to.equal(undefined);
  });

  it('does not hold what is larger than it', () => {
    const held = lru();
    held.set(a, { size: 10 });
    held.set(b, { size: 11 });
    expect(held.get(b)).to.equal(undefined);
    expect(held.get(a)).to.deep.equal({ size: 10 });
  });
});
