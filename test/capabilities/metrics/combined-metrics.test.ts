import { expect } from 'chai';
import type { WorkerAnswer } from '../../../src/capabilities/capability.ts';
import { createCombinedMetrics } from '../../../src/capabilities/metrics/combined-metrics.ts';
import { createFamilies } from '../../../src/capabilities/metrics/families.ts';

describe('the metrics of several workers', () => {
  function createWorker(worker: number) {
    const { registry, counter, gauge, histogram } = createFamilies();
    const [reads, open] = [counter('reads_total', 'R'), gauge('open', 'O')];
    const [oldest, loads] = [gauge('oldest', 'S', 'min'), histogram('loads', 'L')];
    const answer = async (): Promise<WorkerAnswer> => ({
      worker,
      body: Buffer.from(JSON.stringify(await registry().getMetricsAsJSON())),
    });
    return { reads, open, oldest, loads, answer };
  }

  function combined() {
    let answers: WorkerAnswer[] = [];
    const collect = createCombinedMetrics({
      count: 2,
      restarts: () => 1,
      droppedLogLines: () => 7,
      ask: async () => answers,
    });
    return async (...given: WorkerAnswer[]) => {
      answers = given;
      return (await (await collect()).metrics()).split('\n').filter((line) => !line.startsWith('#'));
    };
  }

  it('are sums, and for some gauges the least', async () => {
    const [one, other, scrape] = [createWorker(1), createWorker(2), combined()];
    one.reads(2);
    other.reads(3);
    one.open(5);
    other.open(7);
    one.oldest(20);
    other.oldest(10);
    one.loads(2);
    other.loads(4);
    expect(await scrape(await one.answer(), await other.answer())).to.include.members([
      ...['reads_total 5', 'open 12', 'oldest 10', 'loads_count 2'],
      ...['portico_workers{state="ready"} 2', 'portico_workers{state="wanted"} 2', 'portico_worker_restarts_total 1'],
      'portico_log_lines_dropped_total 7',
    ]);
  });

  it('keep the counts of workers that ended, and not their gauges', async () => {
    const [one, scrape] = [createWorker(1), combined()];
    one.reads(2);
    one.open(5);
    await scrape(await one.answer());
    for (let worker = 2; worker < 5; worker += 1) {
      const next = createWorker(worker);
      next.reads(1);
      next.open(1);
      const lines = await scrape(await next.answer());
      expect(lines).to.include.members([`reads_total ${worker + 1}`, 'open 1', 'portico_workers{state="ready"} 1']);
    }
  });

  it('are those of the last scrape for a worker that does not answer', async () => {
    const [one, scrape] = [createWorker(1), combined()];
    one.reads(2);
    one.open(5);
    await scrape(await one.answer());
    for (let time = 0; time < 2; time += 1) {
      expect(await scrape({ worker: 1, body: undefined })).to.include.members(['reads_total 2', 'open 5']);
    }
  });
});
