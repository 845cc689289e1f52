import { expect } from 'chai';
import { createRecentKeys } from '../../../src/kernel/tables/recent-keys.ts';

describe('recent keys', () => {
  it('are bounded: the key that was added longest ago makes room, whichever was asked about last', () => {
    const forgotten: string[] = [];
    const keys = createRecentKeys({ max: 2, onForgotten: (key) => forgotten.push(key) });
    for (const key of ['a', 'b', 'a']) keys.add(key);
    expect(keys.has('b')).to.equal(true);
    expect([keys.size, forgotten]).to.deep.equal([2, []]);
    keys.add('c');
    expect([keys.size, forgotten]).to.deep.equal([2, ['b']]);
    expect(['a', 'b', 'c'].map((key) => keys.has(key))).to.deep.equal([true, false, true]);
  });
});
