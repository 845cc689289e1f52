import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { createLoading, type LoadAccount } from '../../../src/core/upstream/loading.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { SEEDED } from '../../support/seed.ts';
import { calm, errorOf, rejection } from './harness.ts';

const MAX = 1000;

function setUp(maxBytes = MAX) {
  const loading = createLoading({ maxBytes });
  /** Starts a load that lasts until it is ended, at the latest with the test. */
  function begin(signal = calm()) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    onCleanup(() => resolve('loaded'));
    let open: { readonly account: LoadAccount; readonly signal: AbortSignal } | undefined;
    const ended = loading.run({ maxReadBytes: 500, timeoutMs: 60_000 }, signal, async (account, ending) => {
      open = { account, signal: ending };
      return promise;
    });
    ended.catch(() => {});
    if (open === undefined) return expect.fail('it did not begin at once');
    return { ...open, ended, end: (error?: Error) => (error === undefined ? resolve('loaded') : reject(error)) };
  }
  return { begin };
}

const GAVE_WAY = {
  ...{ code: 'overloaded', reason: 'it was shed in favor of other loads', bound: 'maxLoadingBytes' },
  ...{ countsForBreaker: false, retryable: undefined },
};

const expectShed = (work: () => void) => expect(work).to.throw().that.includes(GAVE_WAY);

function expectTooLarge(work: () => void, bound: string): void {
  const reason = `the pages of the read are larger than ${bound}`;
  expect(work).to.throw().that.includes({ code: 'upstream_invalid', bound, reason });
}

describe('all loads under way', () => {
  it('may hold so much together, and not a byte more', async () => {
    const { begin } = setUp();
    const [one, other] = [begin(), begin()];
    one.account.hold(500);
    other.account.hold(500);
    expectShed(() => other.account.hold(1));
    expect(await errorOf(other.ended)).to.include(GAVE_WAY);
    const next = begin();
    next.account.hold(500);
    expectShed(() => next.account.hold(1));
    one.end();
    expect(await one.ended).to.equal('loaded');
  });

  it('hold nothing once they have ended or released it, whatever their outcome', async () => {
    const { begin } = setUp();
    const gone = new AbortController();
    const ends = [begin(), begin(), begin(gone.signal)];
    for (const { account } of ends) account.hold(300);
    ends[0]?.end();
    ends[1]?.end(new Error('it broke'));
    gone.abort(new Error('nobody waits'));
    for (const { ended } of ends) await ended.catch(() => {});
    const next = begin();
    next.account.hold(MAX);
    next.account.hold(-MAX);
    next.account.hold(MAX);
    next.end();
    expect(await next.ended).to.equal('loaded');
  });

  it('never evict a small load for a large one', async () => {
    const { begin } = setUp();
    const small = begin();
    small.account.hold(100);
    const large = begin();
    large.account.hold(850);
    const latest = begin();
    latest.account.hold(100);
    expect(await errorOf(large.ended)).to.include(GAVE_WAY);
    expect(large.signal.aborted).to.equal(true);
    for (const { account } of [small, latest]) account.hold(100);
  });

  it('evict the latest of the large ones, so that the oldest ends', async () => {
    const { begin } = setUp();
    const oldest = begin();
    oldest.account.hold(400);
    for (let count = 0; count < 10; count += 1) {
      const later = begin();
      later.account.hold(400);
      oldest.account.hold(20);
      expectShed(() => later.account.hold(400));
      later.end();
    }
    oldest.end();
    expect(await oldest.ended).to.equal('loaded');
  });

  it('rejects at once one that would not fit alone, and the others continue', async () => {
    const { begin } = setUp();
    const other = begin();
    other.account.hold(1);
    const alone = begin();
    expectTooLarge(() => alone.account.hold(MAX + 1), 'maxLoadingBytes');
    expect(other.signal.aborted).to.equal(false);
  });

  it('reports a read that is too large by itself, whatever others hold', () => {
    const { begin } = setUp();
    const { account } = begin();
    account.read(400);
    account.read(100);
    expectTooLarge(() => account.read(1), 'maxReadBytes');
  });

  it('leaves no listener on the signal that it was given, and begins nothing under one that has aborted', async () => {
    const { begin } = setUp();
    const { signal } = new AbortController();
    const load = begin(signal);
    load.end();
    await load.ended;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    const reason = new Error('gone');
    const loading = createLoading({ maxBytes: 1 });
    const run = loading.run({ maxReadBytes: 1, timeoutMs: 60_000 }, AbortSignal.abort(reason), () =>
      expect.fail('it began'),
    );
    expect(await rejection(run)).to.equal(reason);
  });

  it(`never hold more than the bound, and one of them always continues ${SEEDED}`, () => {
    const step = fc.record({ load: fc.nat(7), bytes: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const { begin } = setUp();
        const loads = Array.from({ length: 8 }, () => ({ ...begin(), bytes: 0 }));
        for (const { load: index, bytes } of steps) {
          const load = loads[index];
          if (load === undefined || load.signal.aborted || load.bytes + bytes > MAX) continue;
          try {
            load.account.hold(bytes);
          } catch {
            // It was shed itself.
          }
          load.bytes += bytes;
          const left = loads.filter(({ signal }) => !signal.aborted);
          const held = left.reduce((sum, each) => sum + each.bytes, 0);
          expect(held).to.be.at.most(MAX);
          expect(left).to.not.have.length(0);
        }
      }),
    );
  });
});
