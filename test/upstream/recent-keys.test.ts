import { expect } from 'chai';
import { createRecentKeys } from '../../src/upstream/recent-keys.ts';

describe('recent keys', () => {
  it('are remembered for a time, counted from when they were added last', () => {
    let time = 0;
    const keys = createRecentKeys({ forMs: 100, limit: 10, now: () => time });
    expect(keys.has('a')).to.equal(false);
    keys.add('a');
    time = 60;
    expect(keys.has('a')).to.equal(true);
    keys.add('a');
    time = 159;
    expect(keys.has('a')).to.equal(true);
    time = 160;
    expect(keys.has('a')).to.equal(false);
  });

  it('are forgotten on demand', () => {
    const keys = createRecentKeys({ forMs: 100, limit: 10, now: () => 0 });
    keys.add('a');
    keys.delete('a');
    expect(keys.has('a')).to.equal(false);
  });

  it('are no more than the limit: the one added longest ago makes room', () => {
    const keys = createRecentKeys({ forMs: 100, limit: 2, now: () => 0 });
    for (const key of ['a', 'b', 'a', 'c']) keys.add(key);
    expect(['a', 'b', 'c'].map((key) => keys.has(key))).to.deep.equal([true, false, true]);
  });
});
