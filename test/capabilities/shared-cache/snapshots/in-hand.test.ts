import { expect } from 'chai';
import { createInHand } from '../../../../src/capabilities/shared-cache/snapshots/in-hand.ts';
import { settle } from '../../../core/reads/snapshots/departures.ts';

describe('what is in hand', () => {
  function desk(maxBytes: number, maxAtOnce: number) {
    const inHand = createInHand({ maxBytes, maxAtOnce });
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const take = (name: string, bytes: number) =>
      inHand(bytes, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        if (name === 'bad') throw new Error('it went wrong');
        return name;
      });
    return { take, begun, end: (name: string) => ends.get(name)?.() };
  }

  it('is so many at a time, and the others in their order', async () => {
    const { take, begun, end } = desk(100, 2);
    const all = ['a', 'b', 'c', 'd'].map((name) => take(name, 10));
    await settle();
    expect(begun).to.deep.equal(['a', 'b']);
    end('b');
    await settle();
    expect(begun).to.deep.equal(['a', 'b', 'c']);
    all.push(take('e', 10));
    await settle();
    expect(begun, 'one that comes later').to.deep.equal(['a', 'b', 'c']);
    for (const name of ['a', 'c']) end(name);
    await settle();
    for (const name of ['d', 'e']) end(name);
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('is no more than so many bytes, but for one however large', async () => {
    const { take, begun, end } = desk(100, 10);
    const large = take('large', 1000);
    expect(await take('small', 1)).to.equal('overloaded');
    end('large');
    expect(await large).to.equal('large');
    const [a, b] = [take('a', 60), take('b', 40)];
    expect(await take('c', 1)).to.equal('overloaded');
    for (const name of ['a', 'b']) end(name);
    expect(await Promise.all([a, b])).to.deep.equal(['a', 'b']);
    expect(begun).to.deep.equal(['large', 'a', 'b']);
  });

  it('makes room where it goes wrong, too', async () => {
    const { take, end } = desk(10, 1);
    const bad = take('bad', 10).catch((error: Error) => error.message);
    await settle();
    end('bad');
    expect(await bad).to.equal('it went wrong');
    const next = take('next', 10);
    await settle();
    end('next');
    expect(await next).to.equal('next');
  });
});
