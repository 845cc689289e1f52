import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { connectionAccepted, createTurnBudget, nextTurn } from '../../../src/core/kernel/event-loop.ts';

describe('long work while connections arrive', () => {
  it('leaves them most turns, and goes on all the same', async () => {
    let steps = 0;
    let isOver = false;
    const inBudget = createTurnBudget(5);
    const count = () => {
      steps += 1;
    };
    const large = async () => {
      for (; !isOver; await nextTurn()) count();
    };
    const small = async () => {
      for (; !isOver; await turn()) await inBudget(count, () => {});
    };
    const all = [large(), small()];
    const stepsIn = async (turns: number, each: () => void) => {
      const before = steps;
      for (let passed = 0; passed < turns; passed += 1) {
        each();
        await turn();
      }
      return steps - before;
    };
    expect(await stepsIn(400, connectionAccepted)).to.be.within(4, 40);
    expect(await stepsIn(400, () => {})).to.be.above(300);
    isOver = true;
    await Promise.all(all);
  });
});

describe('small pieces of work', () => {
  it('share a turn of the event loop until they have used their time of it, and return how long they took', async () => {
    const inBudget = createTurnBudget(5);
    let at = 0;
    let done = false;
    const others = () => {
      at += 1;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    const took: number[] = [];
    const busy = (ms: number) => {
      for (const begun = performance.now(); performance.now() < begun + ms; );
      return at;
    };
    const work = (ms: number) =>
      inBudget(
        () => busy(ms),
        (spent) => took.push(spent),
      );
    expect(new Set(await Promise.all([0, 0, 0].map(work))).size).to.equal(1);
    expect(new Set(await Promise.all([6, 6, 6].map(work))).size).to.equal(3);
    done = true;
    expect(took).to.have.length(6);
    for (const ms of took.slice(3)) expect(ms).to.be.at.least(6);
  });
});
