import { expect } from 'chai';
import { createTtlSet } from '../../../src/core/kernel/lru.ts';

describe('a TTL set', () => {
  /** A set of keys for 100 ms, and which of these it holds at a time. */
  function ttlSet({ ttlMs = 100, max = 10 } = {}) {
    const clock = { time: 1 };
    const keys = createTtlSet({ ttlMs, max, now: () => clock.time });
    const hasAt = (time: number, key = 'a') => {
      clock.time = time;
      return keys.has(key);
    };
    return { keys, hasAt };
  }

  it('holds a key for a time, counted from when it was added last, however often it is looked up', () => {
    const { keys, hasAt } = ttlSet();
    expect(hasAt(1)).to.equal(false);
    keys.add('a');
    expect(hasAt(60)).to.equal(true);
    keys.add('a');
    expect([85, 110, 135, 160, 161].map((time) => hasAt(time))).to.deep.equal([true, true, true, true, false]);
  });

  it('is bounded: the oldest key is removed first, whichever was looked up last', () => {
    const { keys, hasAt } = ttlSet({ max: 2 });
    for (const key of ['a', 'b', 'a']) keys.add(key);
    expect(hasAt(1, 'b')).to.equal(true);
    keys.add('c');
    expect(['a', 'b', 'c'].map((key) => hasAt(1, key))).to.deep.equal([true, false, true]);
  });
});
