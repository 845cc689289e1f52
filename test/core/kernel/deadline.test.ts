import { getEventListeners, once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { inOrder, isDeadline, startDeadline, withAbort, withDeadline } from '../../../src/core/kernel/deadline.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { createSingleFlight } from '../../../src/core/kernel/single-flight.ts';
import { standStill } from '../../support/a-while.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { rejection } from '../upstream/harness.ts';

const LONG_MS = 60_000;
const calm = () => new AbortController().signal;
const never = () => new Promise<never>(() => {});

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

/** The rejections that nothing handled while `work` ran, and a moment later. */
async function unhandledDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const record = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', record);
  try {
    await work();
    await sleep(20);
    return unhandled;
  } finally {
    process.off('unhandledRejection', record);
  }
}

describe('work whose signal has aborted already', () => {
  const begins = () => expect.fail('the work began');
  for (const [name, start] of Object.entries<(signal: AbortSignal) => Promise<unknown>>({
    withDeadline: (signal) => withDeadline(LONG_MS, signal, begins),
    withAbort: (signal) => withAbort(signal, begins),
    startDeadline: async (signal) => startDeadline(LONG_MS, signal),
    inOrder: (signal) => inOrder(2, 2, signal, begins).next(),
    'a flight': (signal) => createSingleFlight().join('a', signal, begins),
  })) {
    it(`is not begun by ${name}`, async () => {
      const reason = new Error('too late');
      expect(await rejection(start(AbortSignal.abort(reason)))).to.equal(reason);
    });
  }
});

describe('withDeadline', () => {
  it('rejects with upstream_timeout when the time is over, and aborts the work', async () => {
    const seen: AbortSignal[] = [];
    const error = await rejection(
      withDeadline(10, calm(), (inner) => {
        seen.push(inner);
        return never();
      }),
    );
    expect(error).to.be.instanceOf(GatewayError).with.property('code', 'upstream_timeout');
    expect(seen.map((inner) => inner.reason)).to.deep.equal([error]);
    expect(isDeadline(error)).to.equal(true);
    // What an upstream was too slow with is no deadline of ours.
    const slow = new GatewayError('upstream_timeout', { countsForBreaker: true });
    for (const other of [new Error('gone'), new GatewayError('upstream_failed'), slow]) {
      expect(isDeadline(other)).to.equal(false);
    }
  });

  it('extends the time of the work by a stop of the process', async () => {
    const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onCleanup(() => {
      socket.destroy();
      server.close();
    });
    await once(socket, 'connect');
    const result = withDeadline(500, calm(), async () => {
      socket.write('said in time');
      return String(await once(socket, 'data'));
    });
    standStill(1100);
    expect(await result).to.equal('said in time');
  });

  it('extends it once', async () => {
    const result = rejection(withDeadline(10, calm(), never));
    standStill(500);
    expect(await Promise.race([result, sleep(250)])).to.have.property('code', 'upstream_timeout');
  });

  for (const [when, early] of [
    ['later', false],
    ['by the work itself as it begins', true],
  ] as const) {
    it(`rejects with the outer signal's own reason at once, although the work ignores it: aborted ${when}`, async () => {
      const controller = new AbortController();
      const reason = new Error('the caller left');
      let inner: AbortSignal | undefined;
      const result = withDeadline(LONG_MS, controller.signal, (given) => {
        inner = given;
        if (early) controller.abort(reason);
        return never();
      });
      controller.abort(reason);
      expect(inner?.reason).to.equal(reason);
      expect(await rejection(result)).to.equal(reason);
      expect(listenersOf(controller.signal)).to.equal(0);
    });
  }

  it('leaves no rejection unhandled when the work fails after the deadline', async () => {
    const late = Promise.withResolvers<never>();
    const unhandled = await unhandledDuring(async () => {
      await rejection(withDeadline(5, calm(), () => late.promise));
      late.reject(new Error('late'));
    });
    expect(unhandled).to.deep.equal([]);
  });
});

/** Work that never settles, and remembers the signals that it was given. */
function endless() {
  const signals: AbortSignal[] = [];
  const work = (_index: number, signal: AbortSignal) => {
    signals.push(signal);
    return never();
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
          await sleep(delays[index]);
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
    expect(await rejection(results.next())).to.equal(mistake);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true, true]);
  });
});
