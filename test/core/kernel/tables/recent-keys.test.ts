import { expect } from 'chai';
import { createRecentKeys } from '../../../../src/core/kernel/tables/recent-keys.ts';

describe('recent keys', () => {
  it('are bounded: the key that was added longest ago makes room', () => {
    const forgotten: string[] = [];
    const keys = createRecentKeys({ max: 2, onForgotten: (key) => forgotten.push(key) });
    for (const key of ['a', 'b', 'a']) keys.add(key);
    expect([keys.size, forgotten]).to.deep.equal([2, []]);
    keys.add('c');
    expect([keys.size, forgotten]).to.deep.equal([2, ['b']]);
    keys.add('b');
    expect([keys.size, forgotten]).to.deep.equal([2, ['b', 'a']]);
  });
});
