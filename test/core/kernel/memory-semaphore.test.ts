import { expect } from 'chai';
import { createMemorySemaphore } from '../../../src/core/kernel/memory-semaphore.ts';
import { settle } from '../../core/reads/snapshots/departures.ts';

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
