import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRate, type RateState } from '../../../src/capabilities/rate-limits/rate.ts';
import { createLimits } from '../../../src/capabilities/rate-limits/request-limits.ts';
import type { HttpRequest } from '../../../src/core/http/http-request.ts';
import type { Caller } from '../../../src/core/kernel/caller.ts';
import type { SharedCounts } from '../../../src/core/sharing.ts';
import { SEED, SEEDED } from '../../support/seed.ts';

const WINDOW_MS = 60_000;

/** The simplest thing that could be meant: what each key took since its window began, the last `maxKeys` keys alone. */
function createModel(quota: number, maxKeys: number) {
  const windows = new Map<string, { begun: number; taken: number }>();
  const openWindow = (key: string, now: number) => {
    const held = windows.get(key);
    if (held === undefined) return undefined;
    windows.delete(key);
    windows.set(key, held);
    return now >= held.begun + WINDOW_MS ? undefined : held;
  };
  return {
    take(key: string, now: number): RateState {
      const window = openWindow(key, now) ?? { begun: now, taken: 0 };
      window.taken += 1;
      windows.delete(key);
      windows.set(key, window);
      for (const oldest of windows.keys()) {
        if (windows.size > maxKeys) windows.delete(oldest);
      }
      const { begun, taken } = window;
      if (taken > quota) window.taken -= 1;
      return { isOver: taken > quota, remaining: Math.max(quota - taken, 0), resetMs: begun + WINDOW_MS - now };
    },
    giveBack(key: string, now: number): void {
      const window = openWindow(key, now);
      if (window !== undefined && window.taken > 0) window.taken -= 1;
    },
  };
}

describe('a rate', () => {
  it(`admits what a simple model does, for any sequence of keys and times ${SEEDED}`, () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      isTaken: fc.boolean(),
      pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90_000 })),
    });
    const small = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(small, small, fc.array(step, { maxLength: 40 }), (quota, maxKeys, steps) => {
        let now = 1_000_000;
        const rate = createRate({ quota, windowMs: WINDOW_MS, maxKeys, now: () => now });
        const model = createModel(quota, maxKeys);
        for (const { key, isTaken, pauseMs } of steps) {
          now += pauseMs;
          if (isTaken) expect(rate.take(key)).to.deep.equal(model.take(key, now));
          else expect(rate.giveBack(key)).to.equal(model.giveBack(key, now));
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('ends no later than a window from now, whatever fraction of a millisecond it is', () => {
    const rate = createRate({ quota: 1, windowMs: WINDOW_MS, maxKeys: 1, now: () => 19_850.407_567_616_458 });
    expect(rate.take('key').resetMs).to.equal(WINDOW_MS);
  });
});

type Add = SharedCounts['add'];

/** A store of counters. */
function createStore() {
  const totals = new Map<string, number>();
  const adds: (readonly [string, number])[][] = [];
  const add: Add = async (units) => {
    adds.push([...units]);
    return [...units].map(([name, amount]) => {
      totals.set(name, (totals.get(name) ?? 0) + amount);
      return { total: totals.get(name) ?? 0, restMs: WINDOW_MS / 2 };
    });
  };
  return { add, totals, adds };
}

describe('a rate that replicas share', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 }));
  afterEach(() => mock.timers.reset());

  /** Passes the pause before a report, and waits for it. */
  const settled = () => {
    mock.timers.tick(100);
    return new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  };
  const nameOf = (key: string) => `name of ${key}`;
  const open = (add: Add, quota = 10, maxKeys = 5000) =>
    createRate({
      ...{ quota, windowMs: WINDOW_MS, maxKeys, now: () => Date.now(), nameOf },
      counts: { add, nameOf },
    });
  const times = (count: number, work: (index: number) => void) => Array.from({ length: count }, (_, at) => work(at));

  it('receives soon afterwards what others have taken and given back, and when their window ends', async () => {
    const { add, totals } = createStore();
    const [one, other] = [open(add), open(add)];
    times(8, () => one.take('a'));
    one.giveBack('a');
    await settled();
    expect(totals.get('name of a')).to.equal(7);
    expect(other.take('a')).to.include({ isOver: false, remaining: 9 });
    await settled();
    expect(other.take('a')).to.deep.equal({ isOver: false, remaining: 1, resetMs: WINDOW_MS / 2 });
    expect([other.take('a').isOver, other.take('a').isOver]).to.deep.equal([false, true]);
    expect(other.take('b')).to.include({ remaining: 9 });
    other.giveBack('a');
    expect(other.take('a').isOver).to.equal(false);
  });

  it('reports each of many keys once, step by step', async () => {
    const { add, adds } = createStore();
    const rate = open(add, 10, 2000);
    times(2500, (index) => rate.take(`key ${index}`));
    rate.take('key 0');
    await settled();
    await settled();
    expect(adds.map((step) => step.length)).to.deep.equal([1024, 976]);
    expect(adds[0]?.slice(0, 2)).to.deep.equal([
      ['name of key 0', 2],
      ['name of key 1', 1],
    ]);
  });

  it('keeps what is taken while it reports', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const rate = open(async (units) => {
      await promise;
      return [...units].map(() => ({ total: 8, restMs: WINDOW_MS }));
    }, 20);
    times(3, () => rate.take('a'));
    await settled();
    times(4, () => rate.take('a'));
    resolve();
    await settled();
    expect(rate.take('a')).to.include({ remaining: 20 - 8 - 5 });
  });

  it('counts in this process only what cannot be reported', async () => {
    const rate = open(async (units) => [...units].map(() => undefined));
    times(4, () => rate.take('a'));
    await settled();
    expect(rate.take('a')).to.deep.equal({ isOver: false, remaining: 5, resetMs: WINDOW_MS - 100 });
  });

  /** Takes one each 200 ms from a store that gives this answer, and returns the times at which one was admitted. */
  async function admitted(turns: number, total: number, restMs: number) {
    const rate = open(async (units) => [...units].map(() => ({ total, restMs })), 3);
    const found: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      if (!rate.take('a').isOver) found.push(turn * 200);
      await settled();
      mock.timers.tick(100);
    }
    return found;
  }

  it('admits no more than alone, whatever the store answers', async () => {
    for (const restMs of [Number.MAX_SAFE_INTEGER, 1, 0, -1]) {
      for (const total of [-1, 0, 3]) expect(await admitted(100, total, restMs)).to.have.lengthOf.at.most(3);
    }
  });

  it('refuses for one window at a time, even if the store reports a full one each time', async () => {
    expect(await admitted(1000, 1_000_000, WINDOW_MS)).to.deep.equal([0, 60_000, 120_000, 180_000]);
  });

  it('is counted apart for callers and addresses, and for windows of another length', async () => {
    const { add, totals } = createStore();
    for (const windowMs of [1000, 2000]) {
      const limits = createLimits({ perCaller: 10, perAddress: 10, maxKeys: 10, windowMs }, { add, nameOf });
      // A caller and an address of the same name.
      const request = { address: 'all', responseHeaders: {} } as HttpRequest;
      limits?.preVerify?.(request, 'all');
      limits?.countAgainstLimits(request, { credentialKey: 'all' } as Caller);
    }
    await settled();
    expect([...totals.values()]).to.deep.equal([1, 1, 1, 1]);
  });
});
