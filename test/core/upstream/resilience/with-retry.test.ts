import { expect } from 'chai';
import fc from 'fast-check';
import { type WithRetryOptions, withRetry } from '../../../../src/core/upstream/resilience/with-retry.ts';
import type { Upstream } from '../../../../src/core/upstream/upstream.ts';
import { asking, calm, errorOf } from '../harness.ts';
import { PAGE, refused, reset, status503, timeout } from '../scripted.ts';

const SETTINGS = {
  events: {},
  attempts: 2,
  statuses: [502, 503, 504],
  baseDelayMs: 100,
  maxDelayMs: 1000,
  budgetPercent: 20,
};

/** An upstream that ends its requests so, in turn, and then answers; and the waits between them. */
function retrying(outcomes: readonly unknown[], options: Partial<WithRetryOptions> = {}) {
  const waits: number[] = [];
  let asked = 0;
  const inner: Upstream = {
    name: 'projects',
    async get({ read }) {
      const outcome = outcomes[asked];
      asked += 1;
      if (outcome !== undefined) throw outcome;
      return { page: await read(Buffer.from('[]'), {}), headers: {} };
    },
    close: async () => {},
  };
  const upstream = withRetry(inner, {
    ...SETTINGS,
    now: () => 0,
    random: () => 0.5,
    sleep: async (ms) => waits.push(ms),
    ...options,
  });
  return {
    get: (signal = calm()) => upstream.get(asking(), signal),
    waits,
    asked: () => asked,
  };
}

describe('an upstream with retry', () => {
  it('retries twice at most, and not after a deadline that passed or a bug', async () => {
    for (const [errors, asked, attempts = 2] of [
      [[refused(), reset()], 3],
      [[status503(), refused(), status503()], 3],
      [[reset()], 1, 0],
      [[timeout()], 1],
      [[new TypeError('a bug')], 1],
    ] as const) {
      const calls = retrying(errors, { attempts });
      const outcome = await calls.get().catch((error: unknown) => error);
      expect(outcome).to.deep.equal(errors[asked - 1] ?? PAGE);
      expect(calls.asked()).to.equal(asked);
    }
  });

  it('waits a random time, longer with each retry, up to a bound', async () => {
    const { get, waits } = retrying([refused(), refused()]);
    await get();
    expect(waits).to.deep.equal([50, 100]);
    const bounded = retrying([refused(), refused()], { baseDelayMs: 800, random: () => 0.999 });
    await bounded.get();
    expect(bounded.waits).to.deep.equal([799.2, 999]);
    const lucky = retrying([refused()], { random: () => 0 });
    await lucky.get();
    expect(lucky.waits).to.deep.equal([0]);
  });

  it('retries at once if a connection was lost, the first time', async () => {
    const { get, waits } = retrying([reset(), reset()]);
    await get();
    expect(waits).to.deep.equal([0, 100]);
  });

  it('respects Retry-After, and does not retry if that exceeds the longest wait', async () => {
    const short = retrying([status503(1)]);
    await short.get();
    expect(short.waits).to.deep.equal([1000]);
    const long = retrying([status503(2)]);
    expect((await errorOf(long.get())).retryAfterSeconds).to.equal(2);
    expect(long.asked()).to.equal(1);
  });

  it('never sends a failing upstream more than 1.2 requests a call, 3 at once and 3 in 10 s', async () => {
    const step = fc.record({ waitMs: fc.nat(4000), calls: fc.nat(12) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 20, 50), async (steps, budgetPercent) => {
        let time = 0;
        const first: number[] = [];
        const again: number[] = [];
        let isFirst = true;
        const upstream = withRetry(
          {
            name: 'projects',
            async get() {
              (isFirst ? first : again).push(time);
              isFirst = false;
              throw refused();
            },
            close: async () => {},
          },
          { ...SETTINGS, budgetPercent, now: () => time, sleep: async () => {} },
        );
        for (const { waitMs, calls } of steps) {
          time += waitMs;
          for (let call = 0; call < calls; call += 1) {
            isFirst = true;
            await errorOf(upstream.get(asking(), calm()));
          }
        }
        for (const end of again) {
          const within = (times: readonly number[]) => times.filter((at) => at > end - 10_000 && at <= end).length;
          expect(within(again)).to.be.at.most((within(first) * budgetPercent) / 100 + 3 + 3);
        }
        const allowance = 3 + (3 * time) / 10_000;
        expect(again.length).to.be.at.most((first.length * budgetPercent) / 100 + allowance);
      }),
      { numRuns: 300 },
    );
  });

  it('regains its budget after a while, and more of it with more requests', async () => {
    let time = 0;
    const calls = async (count: number) => {
      const before = asked();
      for (let call = 0; call < count; call += 1) await get().catch(() => {});
      return asked() - before;
    };
    const { get, asked } = retrying(Array(1000).fill(refused()), { now: () => time });
    expect(await calls(10)).to.equal(10 + 4);
    expect(await calls(10)).to.equal(10 + 2);
    time = 12_000;
    expect(await calls(1)).to.equal(3);
    expect(await calls(1)).to.equal(2);
  });
});
