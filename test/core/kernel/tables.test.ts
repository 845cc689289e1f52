import { expect } from 'chai';
import { createMemorySemaphore, createSizedLru, createTtlSet } from '../../../src/core/kernel/tables.ts';
import { settle } from '../reads/snapshots/departures.ts';

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

  it('holds nothing where its time is 0, and not what was deleted', () => {
    const none = ttlSet({ ttlMs: 0 });
    none.keys.add('a');
    expect(none.hasAt(1)).to.equal(false);
    const { keys, hasAt } = ttlSet();
    keys.add('a');
    keys.delete('a');
    expect(hasAt(1)).to.equal(false);
  });

  it('holds a key that was added with an age for the rest of its lifetime', () => {
    const { keys, hasAt } = ttlSet();
    keys.add('a', 60);
    expect([hasAt(41), hasAt(42)]).to.deep.equal([true, false]);
    keys.add('a', 100);
    expect(hasAt(42)).to.equal(false);
    keys.add('a');
    keys.add('a', 60);
    expect(hasAt(142)).to.equal(true);
  });

  it('is bounded: the oldest key is removed first, whichever was looked up last', () => {
    const { keys, hasAt } = ttlSet({ max: 2 });
    for (const key of ['a', 'b', 'a']) keys.add(key);
    expect(hasAt(1, 'b')).to.equal(true);
    keys.add('c');
    expect(['a', 'b', 'c'].map((key) => hasAt(1, key))).to.deep.equal([true, false, true]);
  });

  it('starts no timer', () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const keys = createTtlSet({ ttlMs: 100, max: 2, now: () => performance.now() });
    keys.add('a');
    expect([keys.has('a'), timers()]).to.deep.equal([true, before]);
  });
});

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

describe('a memory semaphore', () => {
  function scene(maxBytes: number, maxAtOnce: number) {
    const semaphore = createMemorySemaphore({ maxBytes, maxAtOnce });
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const take = (name: string, bytes: number) =>
      semaphore(bytes, async () => {
        started.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        if (name === 'bad') throw new Error('it failed');
        return name;
      });
    return { take, started, end: (name: string) => ends.get(name)?.() };
  }

  it('runs so much work at once, and the rest in order', async () => {
    const { take, started, end } = scene(100, 2);
    const all = ['a', 'b', 'c', 'd'].map((name) => take(name, 10));
    await settle();
    expect(started).to.deep.equal(['a', 'b']);
    end('b');
    await settle();
    expect(started).to.deep.equal(['a', 'b', 'c']);
    all.push(take('e', 10));
    await settle();
    expect(started, 'one that comes later').to.deep.equal(['a', 'b', 'c']);
    for (const name of ['a', 'c']) end(name);
    await settle();
    for (const name of ['d', 'e']) end(name);
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('acquires no more than so many bytes, except for a single large piece of work', async () => {
    const { take, started, end } = scene(100, 10);
    const large = take('large', 1000);
    expect(await take('small', 1)).to.equal('overloaded');
    end('large');
    expect(await large).to.equal('large');
    const [a, b] = [take('a', 60), take('b', 40)];
    expect(await take('c', 1)).to.equal('overloaded');
    for (const name of ['a', 'b']) end(name);
    expect(await Promise.all([a, b])).to.deep.equal(['a', 'b']);
    expect(started).to.deep.equal(['large', 'a', 'b']);
  });

  it('releases what failed work has acquired', async () => {
    const { take, end } = scene(10, 1);
    const bad = take('bad', 10).catch((error: Error) => error.message);
    await settle();
    end('bad');
    expect(await bad).to.equal('it failed');
    const next = take('next', 10);
    await settle();
    end('next');
    expect(await next).to.equal('next');
  });
});
