import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { createPageTurns, type PageTurns, SMALL_BYTES } from '../../src/catalogue/page-turns.ts';

const LARGE = SMALL_BYTES + 1;
const calm = () => new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work on a page that goes on until the test ends it. */
function begin(turns: PageTurns, bytes: number, signal = calm()) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const state = { begun: false, end: resolve, fail: reject };
  const done = turns.run(bytes, signal, async () => {
    state.begun = true;
    await promise;
  });
  done.catch(() => {});
  return Object.assign(state, { done });
}

describe('turns for pages', () => {
  it('let as many bytes be worked on at once as they may be, and a larger page alone', async () => {
    const turns = createPageTurns(2 * LARGE);
    const [one, two, larger, last] = [LARGE, LARGE, 9 * LARGE, LARGE].map((bytes) => begin(turns, bytes));
    await turn();
    expect([one, two, larger, last].map((page) => page?.begun)).to.deep.equal([true, true, false, false]);
    one?.end();
    await turn();
    expect(larger?.begun).to.equal(false);
    two?.fail(new Error('not a page'));
    await turn();
    expect([larger?.begun, last?.begun]).to.deep.equal([true, false]);
    larger?.end();
    await turn();
    expect(last?.begun).to.equal(true);
  });

  it('have small pages wait for none', async () => {
    const turns = createPageTurns(LARGE);
    begin(turns, LARGE);
    begin(turns, LARGE);
    const small = begin(turns, SMALL_BYTES);
    await turn();
    expect(small.begun).to.equal(true);
  });

  it('let go at once of a page that nobody waits for any more, and have the next one take its place', async () => {
    const turns = createPageTurns(2 * LARGE);
    const controller = new AbortController();
    const first = begin(turns, LARGE);
    const large = begin(turns, 2 * LARGE, controller.signal);
    const behind = begin(turns, LARGE);
    await turn();
    expect(behind.begun).to.equal(false);
    const reason = new Error('gone');
    controller.abort(reason);
    expect(await large.done.catch((error) => error)).to.equal(reason);
    await turn();
    expect(behind.begun).to.equal(true);
    first.end();
    behind.end();
    const signal = calm();
    const after = begin(turns, LARGE, signal);
    after.end();
    await after.done;
    expect(large.begun).to.equal(false);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('let others have their turn once the steps of all pages have taken 5 ms', async () => {
    const turns = createPageTurns(LARGE);
    let at = 0;
    let done = false;
    const others = () => {
      at += 1;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    const busy = () => {
      for (const begun = performance.now(); performance.now() < begun + 6; );
      return at;
    };
    const pages = [1, 2].map(() => turns.run(1, calm(), async (step) => [await step(busy), await step(busy)]));
    const steps = (await Promise.all(pages)).flat();
    done = true;
    expect(new Set(steps).size).to.equal(4);
  });

  it('take no further step once their signal has aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('gone');
    const steps: number[] = [];
    const work = createPageTurns(LARGE).run(1, controller.signal, async (step) => {
      await step(() => steps.push(1));
      controller.abort(reason);
      await step(() => steps.push(2));
    });
    expect(await work.catch((error) => error)).to.equal(reason);
    expect(steps).to.deep.equal([1]);
  });
});
