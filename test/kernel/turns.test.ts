import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { nextTurn } from '../../src/kernel/turns.ts';

describe('a step of long work', () => {
  it('has a turn of the event loop for itself, in the order in which they were asked for', async () => {
    const seen: string[] = [];
    const work = async (name: string) => {
      for (const step of [1, 2, 3]) {
        await nextTurn();
        seen.push(`${name}${step}`);
      }
    };
    const all = Promise.all(['a', 'b', 'c'].map(work));
    const turns: number[] = [];
    while (seen.length < 9) {
      const before = seen.length;
      await turn();
      turns.push(seen.length - before);
    }
    await all;
    expect(seen).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
    expect(Math.max(...turns)).to.equal(1);
  });

  it('comes after a pause, too', async () => {
    await nextTurn();
    await turn();
    await nextTurn();
  });
});
