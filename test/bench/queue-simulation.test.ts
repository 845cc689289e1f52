import { expect } from 'chai';
import { simulateQueue } from '../../bench/simulation/queue.ts';
import { randomFrom } from '../../bench/simulation/random.ts';

describe('the queue of an upstream, simulated', () => {
  for (const pages of [1, 3]) {
    for (const load of [0.5, 1, 2, 5]) {
      it(`lets a platform answer 90 % of what it can, for lists of ${pages} pages at ${load} times its capacity`, async () => {
        const random = randomFrom(1);
        const capacity = 8 / 0.1 / pages;
        const scene = { slots: 8, maxQueue: 1024, timeoutMs: 1000, seconds: 6, warmSeconds: 2, pages, random };
        const durationMs = () => 50 + 100 * random();
        const result = await simulateQueue({ ...scene, readsPerSecond: capacity * load, durationMs });
        const possible = Math.min(capacity * 4, result.reads);
        expect(result.answered).to.be.at.least(0.9 * possible);
        expect(result.faults).to.be.at.most(0.02 * result.answered);
      });
    }
  }
});
