import { mock } from 'node:test';
import { expect } from 'chai';
import { createLimits } from '../../../src/capabilities/rate-limits/request-limits.ts';
import { createSharedRate } from '../../../src/capabilities/rate-limits/shared-rate.ts';
import type { HttpRequest } from '../../../src/core/http/http-request.ts';
import type { Caller } from '../../../src/core/kernel/caller.ts';
import type { SharedCounts } from '../../../src/core/sharing.ts';
import { eventually } from '../../support/eventually.ts';

const WINDOW_MS = 60_000;

function createCounts() {
  const totals = new Map<string, number>();
  const adds: (readonly [string, number])[][] = [];
  let isAway = false;
  const counts: Pick<SharedCounts, 'add'> = {
    async add(units) {
      adds.push([...units]);
      return [...units].map(([name, amount]) => {
        if (isAway) return undefined;
        totals.set(name, (totals.get(name) ?? 0) + amount);
        return { total: totals.get(name) ?? 0, restMs: 30_000 };
      });
    },
  };
  const setAway = (away: boolean) => {
    isAway = away;
  };
  return { counts, totals, adds, setAway };
}

describe('a rate that replicas share', () => {
  const open = ({ counts }: Pick<ReturnType<typeof createCounts>, 'counts'>, quota = 10, maxKeys = 5000) =>
    createSharedRate({ quota, windowMs: WINDOW_MS, maxKeys, counts, nameOf: (key) => `name of ${key}` });

  it('receives soon afterwards what others have taken, and when their window ends', async () => {
    const shared = createCounts();
    const [one, other] = [open(shared), open(shared)];
    one.take('a', 8);
    await eventually(() => shared.totals.get('name of a') === 8);
    expect(other.take('a', 1)).to.include({ isOver: false, remaining: 9 });
    const state = await eventually(async () => {
      const found = other.look('a');
      return found?.remaining === 1 && found;
    });
    expect(state.resetMs).to.be.within(20_000, 30_000);
    expect(other.take('a', 2)).to.include({ isOver: true, remaining: 0 });
    expect(other.take('b', 1)).to.include({ remaining: 9 });
  });

  it('reports many keys step by step', async () => {
    const shared = createCounts();
    const rate = open(shared);
    for (let count = 0; count < 2000; count += 1) rate.take(`key ${count}`, 1);
    await eventually(() => shared.totals.size === 2000);
    expect(shared.adds.map((step) => step.length)).to.deep.equal([1024, 976]);
  });

  it('reports at most one count per key', async () => {
    const shared = createCounts();
    const rate = open(shared, 10, 3);
    for (let count = 0; count < 10; count += 1) rate.take(`key ${count}`, 1);
    rate.take('key 0', 4);
    await eventually(() => shared.adds.length > 0);
    expect(shared.adds[0]).to.deep.equal([
      ['name of key 0', 5],
      ['name of key 1', 1],
      ['name of key 2', 1],
    ]);
  });

  it('keeps what is reserved while it reports', async () => {
    const answers: (() => void)[] = [];
    const add: SharedCounts['add'] = (units) =>
      new Promise((resolve) => answers.push(() => resolve([...units].map(() => ({ total: 8, restMs: 30_000 })))));
    const rate = open({ counts: { add } }, 20);
    rate.take('a', 3);
    const answer = await eventually(() => answers[0]);
    rate.take('a', 4);
    answer();
    await eventually(async () => (rate.look('a')?.resetMs ?? WINDOW_MS) <= 30_000);
    expect(rate.look('a')).to.include({ remaining: 20 - 8 - 4 });
  });

  it('counts here alone what cannot be reported', async () => {
    const shared = createCounts();
    shared.setAway(true);
    const rate = open(shared);
    rate.take('a', 4);
    await eventually(() => shared.adds.length > 0);
    expect(rate.look('a')).to.include({ remaining: 6 });
    expect(rate.look('a')?.resetMs).to.be.greaterThan(30_000);
    shared.setAway(false);
    rate.take('a', 1);
    await eventually(() => shared.totals.get('name of a') === 1);
  });

  it('ignores a store that reports less than was taken here, or a window without end', async () => {
    const answers: { total: number; restMs: number }[] = [];
    const rate = open({
      counts: {
        async add(units) {
          const answer = { total: -1, restMs: Number.MAX_SAFE_INTEGER };
          answers.push(answer);
          return [...units].map(() => answer);
        },
      },
    });
    rate.take('a', 9);
    await eventually(() => answers.length === 1);
    expect(rate.take('a', 1)).to.include({ isOver: false, remaining: 0 });
    expect(rate.take('a', 1)).to.include({ isOver: true });
    await eventually(() => answers.length === 2);
    expect(rate.look('a')?.isOver).to.equal(true);
  });
});

describe('a rate whose store is in the hands of others', () => {
  const QUOTA = 3;

  /** A rate whose store gives this answer each time, the total growing; time passes as the test says. */
  function open({ total, restMs, growth = 0 }: { total: number; restMs: number; growth?: number }) {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    let told = 0;
    const counts: Pick<SharedCounts, 'add'> = {
      async add(units) {
        told += 1;
        return [...units].map(() => ({ total: total + told * growth, restMs }));
      },
    };
    const options = { quota: QUOTA, windowMs: WINDOW_MS, maxKeys: 10, now: () => Date.now() };
    const rate = createSharedRate({ ...options, counts, nameOf: (key) => key });
    return {
      /** Takes one, has the store answer, and lets time pass. */
      async take(passMs: number) {
        const before = told;
        const { isOver } = rate.take('a', 1);
        while (told === before) await settled();
        await settled();
        mock.timers.tick(passMs);
        return !isOver;
      },
    };
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  afterEach(() => mock.timers.reset());

  it('allows no more than alone if windows are reported at their end', async () => {
    for (const restMs of [1, 0, -1]) {
      for (const total of [0, QUOTA, 1_000_000]) {
        const { take } = open({ total, restMs });
        let passed = 0;
        for (let turn = 0; turn < 100; turn += 1) passed += Number(await take(200));
        expect(passed, `a total of ${total}, ${restMs} ms left`).to.equal(QUOTA);
        mock.timers.reset();
      }
    }
  });

  it('refuses for one window at a time, even if a full one is reported as new each time', async () => {
    const { take } = open({ total: 1_000_000, restMs: WINDOW_MS, growth: 1000 });
    const passed: number[] = [];
    for (let turn = 0; turn < 1000; turn += 1) if (await take(200)) passed.push(turn * 200);
    const gaps = passed.slice(1).map((ms, index) => ms - (passed[index] ?? 0));
    expect(passed.length).to.be.at.least(3);
    expect(Math.max(...gaps)).to.be.at.most(WINDOW_MS + 200);
  });
});

describe('limits that replicas share', () => {
  it('are counted apart, each in windows of its own length', async () => {
    const { counts, totals } = createCounts();
    const limits = { perCaller: 10, perAddress: 10, rejectedPerAddress: 0, maxKeys: 10 };
    for (const windowMs of [1000, 2000]) {
      const shared = createLimits({ ...limits, windowMs }, { ...counts, nameOf: (text) => `name of ${text}` });
      // A caller and an address of the same name.
      await shared?.spend({ address: 'all', responseHeaders: {} } as HttpRequest, { credentialKey: 'all' } as Caller);
    }
    await eventually(() => totals.size === 4);
    expect([...totals.values()]).to.deep.equal([1, 1, 1, 1]);
  });
});
