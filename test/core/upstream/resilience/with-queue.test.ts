import { expect } from 'chai';
import { type WithQueueOptions, withQueue } from '../../../../src/core/upstream/resilience/with-queue.ts';
import type { LoadTiming, Upstream } from '../../../../src/core/upstream/upstream.ts';
import { asking, calm, errorOf, recordEvents, rejection } from '../harness.ts';
import { createScripted, PAGE, type Request } from '../scripted.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Ends so many calls with a page, the oldest first. */
async function succeedNext(open: readonly Request[], count: number): Promise<void> {
  for (let ended = 0; ended < count; ended += 1) {
    open[0]?.succeed();
    await settled();
  }
}

function queue(options: Partial<WithQueueOptions> = {}) {
  const clock = { time: 1 };
  const { events, told } = recordEvents();
  const platform = createScripted();
  const upstream = withQueue(platform.upstream, {
    ...{ slots: 4, maxQueue: 4, events, now: () => clock.time },
    ...options,
  });
  const get = (credentialKey: string, signal = calm(), address?: string) =>
    upstream.get(asking('/', { credentialKey, address }), signal);
  const getPage = (load: LoadTiming, credentialKey = 'a') => upstream.get(asking('/', { credentialKey }, load), calm());
  /** Makes this the usual time of a load. */
  async function learn(ms: number): Promise<void> {
    const load: LoadTiming = { dueAt: Number.POSITIVE_INFINITY };
    const reading = getPage(load);
    clock.time += ms;
    platform.open.at(-1)?.succeed();
    await reading;
    load.onLoaded?.(load);
  }
  return { ...platform, upstream, get, getPage, learn, clock, told };
}

describe('an upstream behind a queue', () => {
  it('runs and queues a bounded number, and reports the bound that is reached', async () => {
    const { get, open } = queue();
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

  it('refuses a read that would be late, with the wait, what is usually needed and what is left', async () => {
    const { get, getPage, learn, open, clock } = queue({ slots: 1 });
    await learn(3000);
    const reads = [get('a'), get('a')];
    expect(await errorOf(getPage({ dueAt: clock.time + 7000 }))).to.include({
      ...{ code: 'overloaded', retryAfterSeconds: 2, countsForBreaker: false },
      reason: 'queue: 9000 ms are usually needed, and 7000 ms are left',
    });
    await succeedNext(open, 2);
    await Promise.all(reads);
  });

  it('refuses a read whose turn comes too late, and starts the next one', async () => {
    const { getPage, learn, open, clock } = queue({ slots: 1 });
    await learn(1000);
    const running = getPage({ dueAt: Number.POSITIVE_INFINITY });
    const late = errorOf(getPage({ dueAt: clock.time + 3000 }, 'late'));
    const next = getPage({ dueAt: clock.time + 9000 }, 'next');
    clock.time += 2500;
    open[0]?.succeed();
    await running;
    expect(await late).to.include({
      code: 'overloaded',
      reason: 'queue: 1000 ms are usually needed, and 500 ms are left',
    });
    expect(open.map(({ key }) => key)).to.deep.equal(['next']);
    await succeedNext(open, 1);
    await next;
  });

  it('marks a call that has less than the usual time left, so that a timeout is not counted', async () => {
    const clock = { time: 1 };
    const marks: unknown[] = [];
    const slow: Upstream = {
      name: 'projects',
      async get({ isShort, load, read }) {
        marks.push(isShort);
        clock.time += 3000;
        load.onLoaded?.(load);
        return { page: await read(Buffer.from('[]'), {}), headers: {} };
      },
      close: async () => {},
    };
    const { get } = withQueue(slow, { slots: 1, maxQueue: 1, events: {}, now: () => clock.time });
    for (const leftMs of [10_000, 3000, 2999]) await get(asking('/', {}, { dueAt: clock.time + leftMs }), calm());
    expect(marks).to.deep.equal([undefined, undefined, true]);
  });

  it('starts waiting calls in order, and further pages of a load before them', async () => {
    const { get, getPage, open } = queue({ slots: 1, maxQueue: 10 });
    const load: LoadTiming = { dueAt: Number.POSITIVE_INFINITY };
    const reads = [getPage(load, 'page 1'), get('a'), get('b'), getPage(load, 'page 2')];
    for (const key of ['page 1', 'page 2', 'a', 'b']) {
      expect(open.map((request) => request.key)).to.deep.equal([key]);
      open[0]?.succeed();
      await settled();
    }
    await Promise.all(reads);
  });

  describe('with unverified callers of one address', () => {
    const ADDRESS = '203.0.113.1';

    it('gives them half of the queue, and each place back', async () => {
      const { get, open } = queue({ slots: 1, maxQueue: 4 });
      const make = (name: string, signal = calm()) => get(`made up ${name}`, signal, ADDRESS);
      const leaving = new AbortController();
      const made = [make('0'), make('1')];
      const left = rejection(make('2', leaving.signal));
      expect(await errorOf(make('3'))).to.include({
        code: 'overloaded',
        reason: 'queue: 2 calls of one address wait (half of maxQueue)',
      });
      const others = [get('elsewhere', calm(), '203.0.113.2'), get('verified')];
      leaving.abort(new Error('gone'));
      await left;
      made.push(make('4'));
      expect((await errorOf(make('5'))).code).to.equal('overloaded');
      await succeedNext(open, 5);
      await Promise.all([...made, ...others]);
      expect(open).to.deep.equal([]);
    });

    it('gives them half of the slots while others wait, and all of them otherwise', async () => {
      const { get, open } = queue({ slots: 4, maxQueue: 8 });
      const made = Array.from({ length: 8 }, (_, name) => get(`made up ${name}`, calm(), ADDRESS));
      expect(open).to.have.length(4);
      const others = ['one', 'two'].map((key) => get(key));
      await succeedNext(open, 4);
      const running = open.map(({ key }) => key);
      expect(running.filter((key) => !key.startsWith('made up'))).to.deep.equal(['one', 'two']);
      await succeedNext(open, 6);
      await Promise.all([...made, ...others]);
      // Those that have ended occupy none: the one that came first is next.
      const later = [1, 2, 3, 4].map((key) => get(`${key}`));
      later.push(get('made up 8', calm(), ADDRESS), get('last'));
      await succeedNext(open, 1);
      expect(open.at(-1)?.key).to.equal('made up 8');
      await succeedNext(open, 5);
      await Promise.all(later);
    });
  });
});
