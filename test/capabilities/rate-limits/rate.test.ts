import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRate, type RateState } from '../../../src/capabilities/rate-limits/rate.ts';
import { SEED, SEEDED } from '../../support/seed.ts';

const WINDOW_MS = 10_000;

/** The simplest thing that could be meant: what each key took since its window began, the last `maxKeys` keys alone. */
function createModel(quota: number, maxKeys: number) {
  const windows = new Map<string, { begun: number; taken: number }>();
  return {
    take(key: string, units: number, now: number): RateState {
      const held = windows.get(key);
      const window = held === undefined || now >= held.begun + WINDOW_MS ? { begun: now, taken: 0 } : held;
      window.taken += units;
      windows.delete(key);
      windows.set(key, window);
      for (const oldest of windows.keys()) {
        if (windows.size > maxKeys) windows.delete(oldest);
      }
      return {
        isOver: window.taken > quota,
        remaining: Math.max(quota - window.taken, 0),
        resetMs: window.begun + WINDOW_MS - now,
      };
    },
  };
}

describe('a rate', () => {
  afterEach(() => mock.timers.reset());

  it(`admits what a simple model does, for any sequence of keys and times ${SEEDED}`, async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      units: fc.integer({ min: 1, max: 4 }),
      pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 15_000 })),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 40 }),
        async (quota, maxKeys, steps) => {
          mock.timers.reset();
          mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
          const rate = createRate({ quota, windowMs: WINDOW_MS, maxKeys });
          const model = createModel(quota, maxKeys);
          for (const { key, units, pauseMs } of steps) {
            mock.timers.tick(pauseMs);
            const expected = model.take(key, units, Date.now());
            expect(await rate.take(key, units)).to.deep.equal(expected);
            expect(await rate.look(key)).to.deep.equal(expected);
            expect(rate.keys).to.be.at.most(maxKeys);
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('reports nothing for a key that took nothing, or whose window is over', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    const rate = createRate({ quota: 1, windowMs: WINDOW_MS, maxKeys: 10 });
    expect(await rate.look('a')).to.equal(undefined);
    await rate.take('a', 1);
    mock.timers.tick(WINDOW_MS - 1);
    expect(await rate.look('a')).to.deep.equal({ isOver: false, remaining: 0, resetMs: 1 });
    mock.timers.tick(1);
    expect(await rate.look('a')).to.equal(undefined);
  });

  it('is over when its window is, however late timers are', async () => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const rate = createRate({ quota: 10, windowMs: WINDOW_MS, maxKeys: 10 });
    await rate.take('a', 9);
    mock.timers.tick(WINDOW_MS);
    expect(await rate.look('a')).to.equal(undefined);
    await rate.set('a', 3, 5000);
    expect(await rate.look('a')).to.deep.equal({ isOver: false, remaining: 7, resetMs: 5000 });
  });

  it('takes over the count and the end of a window from other replicas', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    const rate = createRate({ quota: 10, windowMs: WINDOW_MS, maxKeys: 10 });
    await rate.take('a', 5);
    await rate.set('a', 5, 2000);
    expect(await rate.look('a')).to.include({ remaining: 5, resetMs: 2000 });
    await rate.set('a', 6, 0);
    mock.timers.tick(1);
    expect(await rate.look('a'), 'one that is ending').to.equal(undefined);
    expect(await rate.take('a', 1)).to.include({ remaining: 9 });
  });

  it('is never set to end later than the window that is open', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    const rate = createRate({ quota: 10, windowMs: WINDOW_MS, maxKeys: 10 });
    await rate.set('a', 5, 2000);
    for (let turn = 1; turn < 4; turn += 1) {
      mock.timers.tick(500);
      await rate.set('a', 100, WINDOW_MS);
      expect(await rate.look('a')).to.deep.equal({ isOver: true, remaining: 0, resetMs: 2000 - turn * 500 });
    }
    mock.timers.tick(500);
    expect(await rate.look('a')).to.equal(undefined);
  });

  it('keeps no more than its bound of 100,000 keys, nor their timers', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    const pending = new Set<unknown>();
    const { setTimeout: begin, clearTimeout: end } = globalThis;
    const counted = { setTimeout: begin, clearTimeout: end };
    try {
      globalThis.setTimeout = ((...args: Parameters<typeof begin>) => {
        const timer = begin(...args);
        pending.add(timer);
        return timer;
      }) as typeof begin;
      globalThis.clearTimeout = (timer) => {
        pending.delete(timer);
        end(timer);
      };
      const rate = createRate({ quota: 1, windowMs: WINDOW_MS, maxKeys: 100 });
      for (let key = 0; key < 100_000; key += 1) await rate.take(`key ${key}`, 1);
      expect(rate.keys).to.equal(100);
      expect(pending.size).to.equal(100);
      // The last ones are counted still, and the first begins anew.
      expect((await rate.take('key 99999', 1)).isOver).to.equal(true);
      expect((await rate.take('key 0', 1)).isOver).to.equal(false);
    } finally {
      Object.assign(globalThis, counted);
    }
  }).timeout(30_000);
});
