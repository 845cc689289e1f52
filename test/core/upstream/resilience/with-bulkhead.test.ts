import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createLoadClock } from '../../../../src/core/upstream/loading.ts';
import { type WithBulkheadOptions, withBulkhead } from '../../../../src/core/upstream/resilience/with-bulkhead.ts';
import { asking, calm, errorOf, recordEvents, rejection } from '../harness.ts';
import { createScripted, PAGE, type Request, status401, status500 } from '../scripted.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Ends so many calls with a page, the oldest first. */
async function succeedNext(open: readonly Request[], count: number): Promise<void> {
  for (let ended = 0; ended < count; ended += 1) {
    open[0]?.succeed();
    await settled();
  }
}

function bulkhead(options: Partial<WithBulkheadOptions> = {}) {
  const clock = { time: 1 };
  const { events, told } = recordEvents();
  const platform = createScripted();
  const defaults = { slots: 4, maxQueue: 4, usesCallerToken: true, events, now: () => clock.time };
  const upstream = withBulkhead(platform.upstream, { ...defaults, ...options });
  const get = (key: string, signal = calm(), address?: string) =>
    upstream.get(asking('/', { credentialKey: key, address }), signal);
  const introduce = async (key: string) => {
    const reading = get(key);
    platform.open.at(-1)?.succeed();
    await reading;
  };
  return { ...platform, upstream, get, introduce, clock, told };
}

describe('an upstream behind a bulkhead', () => {
  it('runs and queues a bounded number, and reports the bound that is reached', async () => {
    const { get, open, introduce } = bulkhead();
    await introduce('a');
    const reads = Array.from({ length: 8 }, () => get('a'));
    expect(open).to.have.length(4);
    expect(await errorOf(get('a'))).to.include({
      ...{ code: 'overloaded', status: 503, retryAfterSeconds: 1, upstream: 'projects' },
      reason: 'queue: 4 calls wait (maxQueue)',
    });
    for (let count = 0; count < 8; count += 1) {
      open[0]?.succeed();
      await settled();
      expect(open).to.have.length(Math.min(4, 7 - count));
    }
    expect(await Promise.all(reads)).to.deep.equal(Array(8).fill(PAGE));
  });

  it('reports each admission with its wait, what runs and waits then, and each refusal', async () => {
    const { get, open, introduce, clock, told } = bulkhead({ slots: 1, maxQueue: 2 });
    await introduce('a');
    const reads = [get('a'), get('a'), get('a')];
    expect((await errorOf(get('a'))).code).to.equal('overloaded');
    for (let ended = 0; ended < 3; ended += 1) {
      clock.time += 100;
      open[0]?.succeed();
      await settled();
    }
    await Promise.all(reads);
    const entered = (waitedMs: number) => ({ upstream: 'projects', waitedMs });
    expect(told.bulkheadEntered).to.deep.equal([0, 0, 100, 200].map(entered));
    const changed = told.bulkheadChanged?.map(({ upstream, running, waiting }) => `${upstream} ${running} ${waiting}`);
    // The first two are those of the introduction.
    const counts = ['1 0', '0 0', '1 0', '1 1', '1 2', '1 1', '1 0', '0 0'];
    expect(changed).to.deep.equal(counts.map((count) => `projects ${count}`));
    expect(told.callRefused).to.deep.equal([{ requestId: 'request-1', upstream: 'projects', code: 'overloaded' }]);
  });

  it('refuses a read that would be late, with the wait, what is usually needed and what is left', async () => {
    const { upstream, get, open, clock } = bulkhead({ slots: 1, usesCallerToken: false });
    const now = () => clock.time;
    const load = createLoadClock(10_000, now);
    const { enter, ...request } = asking('/', {}, load);
    const first = upstream.get({ ...request, enter }, calm());
    enter('first byte');
    clock.time += 3000;
    enter();
    open[0]?.succeed();
    await first;
    load.onLoaded?.(load);
    const reads = [get('a'), get('a')];
    const late = asking('/', {}, createLoadClock(clock.time + 7000, now));
    expect(await errorOf(upstream.get(late, calm()))).to.include({
      ...{ code: 'overloaded', retryAfterSeconds: 2 },
      reason: 'queue: the wait would be 6000 ms; 3000 ms are usually needed, and 7000 ms are left',
    });
    await succeedNext(open, 2);
    await Promise.all(reads);
  });

  it('admits waiting calls in order', async () => {
    const { get, open, introduce } = bulkhead({ slots: 1, maxQueue: 10 });
    await introduce('a');
    await introduce('b');
    const order = ['a', 'b', 'new', 'a', 'b'];
    const reads = order.map((key) => get(key));
    for (const key of order) {
      expect(open.map((request) => request.key)).to.deep.equal([key]);
      open[0]?.succeed();
      await settled();
    }
    await Promise.all(reads);
  });

  it('removes a waiting caller that disconnects, and gives its place to the next', async () => {
    const { get, open, introduce, count } = bulkhead({ slots: 1, maxQueue: 2 });
    await introduce('a');
    const running = get('a');
    const controller = new AbortController();
    const leaving = rejection(get('a', controller.signal));
    const staying = get('a');
    expect((await errorOf(get('a'))).code).to.equal('overloaded');
    const gone = new Error('gone');
    controller.abort(gone);
    expect(await leaving).to.equal(gone);
    const late = get('a');
    const asked = count();
    await succeedNext(open, 3);
    await Promise.all([running, staying, late]);
    expect(count()).to.equal(asked + 2);
  });

  it('counts no failure for a deadline that passes in the queue', async () => {
    const { get, open, introduce } = bulkhead({ slots: 1 });
    await introduce('a');
    const running = get('a');
    const controller = new AbortController();
    const waiting = errorOf(get('a', controller.signal));
    controller.abort(new GatewayError('upstream_timeout'));
    expect(await waiting).to.include({ code: 'upstream_timeout', countsForBreaker: false });
    open[0]?.succeed();
    await running;
  });

  it('sends nothing for a caller that is gone already, and leaves no listener on a signal', async () => {
    const { get, open, introduce, count } = bulkhead({ slots: 1 });
    const gone = new Error('gone');
    expect(await rejection(get('a', AbortSignal.abort(gone)))).to.equal(gone);
    expect(count()).to.equal(0);
    await introduce('a');
    const running = get('a');
    const signal = calm();
    const waiting = get('a', signal);
    await succeedNext(open, 2);
    await Promise.all([running, waiting]);
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  describe('with callers whom the upstream does not know', () => {
    it('gives them half of the places and half of the queue, and leaves the rest to accepted callers', async () => {
      const { get, open, introduce } = bulkhead();
      await introduce('known');
      const strangers = Array.from({ length: 4 }, (_, index) => get(`stranger ${index}`).catch(() => {}));
      expect(open).to.have.length(2);
      expect((await errorOf(get('one more'))).code).to.equal('overloaded');
      const known = [get('known'), get('known')];
      expect(open.map(({ key }) => key)).to.deep.equal(['stranger 0', 'stranger 1', 'known', 'known']);
      const controller = new AbortController();
      const waiting = [0, 1].map(() => rejection(get('known', controller.signal)));
      expect((await errorOf(get('known'))).code).to.equal('overloaded');
      controller.abort(new Error('gone'));
      await Promise.all(waiting);
      // A place that a known caller leaves is not for a third stranger.
      open[2]?.succeed();
      await settled();
      expect(open.map(({ key }) => key)).to.deep.equal(['stranger 0', 'stranger 1', 'known']);
      await succeedNext(open, 5);
      await Promise.all([...strangers, ...known]);
      expect(open).to.deep.equal([]);
    });

    it('gives those of one address half of the queue of newcomers, and each place back', async () => {
      const { get, open, introduce } = bulkhead({ slots: 2, maxQueue: 8 });
      const address = '203.0.113.1';
      const make = (name: string, signal = calm()) => get(`made up ${name}`, signal, address);
      await introduce('known');
      const leaving = new AbortController();
      const made = [make('0'), make('1')];
      const left = rejection(make('2', leaving.signal));
      expect((await errorOf(make('3'))).code).to.equal('overloaded');
      const others = [get('elsewhere', calm(), '203.0.113.2'), get('without address'), get('known', calm(), address)];
      leaving.abort(new Error('gone'));
      await left;
      made.push(make('4'));
      expect((await errorOf(make('5'))).code).to.equal('overloaded');
      await succeedNext(open, 6);
      await Promise.all([...made, ...others]);
      const again = ['6', '7', '8'].map((name) => make(name));
      await succeedNext(open, 3);
      await Promise.all(again);
    });

    it('accepts a caller for ten minutes after a page that it was given', async () => {
      const { get, open, introduce, clock } = bulkhead({ slots: 2, maxQueue: 0 });
      const both = async () => {
        const reads = [get('a'), get('a')].map((read) => read.then(() => true).catch(() => false));
        for (const request of [...open]) request.succeed();
        return Promise.all(reads);
      };
      expect(await both()).to.deep.equal([true, false]);
      expect(await both()).to.deep.equal([true, true]);
      clock.time += 600_001;
      expect(await both()).to.deep.equal([true, false]);
      await introduce('a');
      expect(await both()).to.deep.equal([true, true]);
    });

    it('accepts a caller no more whose token was rejected, but does through any other error', async () => {
      const { get, open, introduce } = bulkhead({ slots: 2, maxQueue: 0 });
      const fail = async (error: unknown) => {
        const failing = rejection(get('a'));
        open[0]?.fail(error);
        await failing;
      };
      const isKnown = async () => {
        const first = get('a');
        const second = get('a');
        const known = open.length === 2;
        for (const request of [...open]) request.fail(new TypeError('the end'));
        await Promise.all([rejection(first), rejection(second)]);
        return known;
      };
      await introduce('a');
      await fail(status500());
      expect(await isKnown()).to.equal(true);
      await fail(status401());
      expect(await isKnown()).to.equal(false);
    });

    it("makes no difference where the credential is Portico's own", () => {
      const { get, open } = bulkhead({ usesCallerToken: false });
      for (let caller = 0; caller < 4; caller += 1) void get(`stranger ${caller}`);
      expect(open).to.have.length(4);
    });
  });

  it('leaks no place and no waiter, whatever ends how and in which order', async () => {
    const step = fc.record({
      kind: fc.constantFrom('ask', 'ask', 'succeed', 'fail', 'hang up' as const),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(6), fc.nat(6), async (steps, more, maxQueue) => {
        const slots = more + 1;
        const { get, open } = bulkhead({ slots, maxQueue });
        const callers: AbortController[] = [];
        const outcomes: unknown[] = [];
        for (const { kind, which } of steps) {
          if (kind === 'ask') {
            const controller = new AbortController();
            callers.push(controller);
            void get(`caller ${which % 4}`, controller.signal).then(
              (page) => outcomes.push(page),
              (error) => outcomes.push(error),
            );
          } else if (kind === 'hang up') callers[which % callers.length]?.abort(new Error('gone'));
          else if (kind === 'succeed') open[which % open.length]?.succeed();
          else open[which % open.length]?.fail(status500());
          await settled();
          expect(open.length).to.be.at.most(slots);
          const waiting = callers.length - outcomes.length - open.length;
          expect(waiting).to.be.within(0, maxQueue);
          if (waiting > 0) expect(open.length).to.be.at.least(Math.ceil(slots / 2));
        }
        for (const controller of callers) controller.abort(new Error('gone'));
        await settled();
        expect(outcomes).to.have.length(callers.length);
        const half = Array.from({ length: slots }, () => rejection(get('the last')));
        expect(open).to.have.length(Math.ceil(slots / 2));
        for (let ended = 0; ended < slots; ended += 1) {
          open[0]?.fail(status500());
          await settled();
        }
        await Promise.all(half);
        expect(open).to.deep.equal([]);
      }),
      { numRuns: 200 },
    );
  });
});
