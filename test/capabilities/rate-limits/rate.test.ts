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
  const clock = { now: 0 };
  const open = (quota: number, maxKeys = 10) =>
    createRate({ quota, windowMs: WINDOW_MS, maxKeys, now: () => clock.now });

  beforeEach(() => {
    clock.now = 1_000_000;
  });

  it(`admits what a simple model does, for any sequence of keys and times ${SEEDED}`, () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      units: fc.integer({ min: 1, max: 4 }),
      pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 15_000 })),
    });
    const small = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(small, small, fc.array(step, { maxLength: 40 }), (quota, maxKeys, steps) => {
        const rate = open(quota, maxKeys);
        const model = createModel(quota, maxKeys);
        for (const { key, units, pauseMs } of steps) {
          clock.now += pauseMs;
          const expected = model.take(key, units, clock.now);
          expect(rate.take(key, units)).to.deep.equal(expected);
          expect(rate.look(key)).to.deep.equal(expected);
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('ends no later than a window from now, whatever fraction of a millisecond it is', () => {
    clock.now = 19_850.407_567_616_458;
    const rate = createRate({ quota: 1, windowMs: 60_000, maxKeys: 1, now: () => clock.now });
    expect(rate.take('key', 1).resetMs).to.equal(60_000);
  });

  it('reports nothing for a key that took nothing, or whose window is over', () => {
    const rate = open(1);
    expect(rate.look('a')).to.equal(undefined);
    rate.take('a', 1);
    clock.now += WINDOW_MS - 1;
    expect(rate.look('a')).to.deep.equal({ isOver: false, remaining: 0, resetMs: 1 });
    clock.now += 1;
    expect(rate.look('a')).to.equal(undefined);
  });

  it('takes over the count and the end of a window from other replicas, but no later end', () => {
    const rate = open(10);
    rate.take('a', 5);
    rate.set('a', 5, 2000);
    for (const leftMs of [2000, 1500, 1000]) {
      expect(rate.look('a')).to.deep.equal({ isOver: false, remaining: 5, resetMs: leftMs });
      rate.set('a', 5, WINDOW_MS);
      clock.now += 500;
    }
    rate.set('a', 6, 0);
    expect(rate.look('a'), 'one that has ended').to.equal(undefined);
    expect(rate.take('a', 1)).to.include({ remaining: 9 });
    rate.set('b', 5, Number.MAX_SAFE_INTEGER);
    expect(rate.look('b')).to.include({ remaining: 5, resetMs: WINDOW_MS });
  });
});
