import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { inOrder } from '../../../src/core/kernel/deadline.ts';

const calm = () => new AbortController().signal;

/** Work that never settles, and remembers the signals that it was given. */
function endless() {
  const signals: AbortSignal[] = [];
  const work = (_index: number, signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  };
  return { signals, work };
}

describe('inOrder', () => {
  it('yields in order, with no more than the allowed number at once, however long each takes', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.nat({ max: 3 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (delays, concurrency) => {
        let running = 0;
        let most = 0;
        const results = inOrder(delays.length, concurrency, calm(), async (index) => {
          running += 1;
          most = Math.max(most, running);
          await delay(delays[index]);
          running -= 1;
          return index;
        });
        expect(await Array.fromAsync(results)).to.deep.equal(delays.map((_, index) => index));
        expect(most).to.equal(Math.min(concurrency, delays.length));
      },
    );
    await fc.assert(property, { numRuns: 30 });
  });

  it('fails at once when a later one fails while an earlier one is waited for, and ends that one', async () => {
    const { signals, work } = endless();
    const mistake = new Error('mistake');
    const results = inOrder(10, 4, calm(), (index, signal) =>
      index === 2 ? Promise.reject(mistake) : work(index, signal),
    );
    expect(await results.next().catch((error) => error)).to.equal(mistake);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true, true]);
  });

  it('ends what is under way when its reader leaves early', async () => {
    const { signals, work } = endless();
    for await (const _ of inOrder(10, 4, calm(), (index, signal) =>
      index === 0 ? Promise.resolve() : work(index, signal),
    )) {
      break;
    }
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true, true]);
  });

  it('ends at once with the reason of its signal, and stops listening to it', async () => {
    const { signals, work } = endless();
    const controller = new AbortController();
    const result = inOrder(2, 2, controller.signal, work).next();
    const reason = new Error('called off');
    controller.abort(reason);
    expect(await result.catch((error) => error)).to.equal(reason);
    expect(signals.map((signal) => signal.reason)).to.deep.equal([reason, reason]);
    expect(getEventListeners(controller.signal, 'abort')).to.deep.equal([]);
  });

  it('begins nothing when its signal has aborted already', async () => {
    const { signals, work } = endless();
    const reason = new Error('too late');
    expect(
      await inOrder(2, 2, AbortSignal.abort(reason), work)
        .next()
        .catch((error) => error),
    ).to.equal(reason);
    expect(signals).to.deep.equal([]);
  });

  it('leaves no rejection unhandled when several fail', async () => {
    const unhandled: unknown[] = [];
    const record = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', record);
    try {
      const results = inOrder(5, 5, calm(), async (index) => {
        await delay(index);
        throw new Error(`mistake ${index}`);
      });
      expect((await results.next().catch((error) => error)).message).to.equal('mistake 0');
      await delay(20);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off('unhandledRejection', record);
    }
  });
});
