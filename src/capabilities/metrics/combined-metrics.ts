import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Workers } from '../capability.ts';
import { createFamilies, loadPromClient } from './families.ts';
import { LOG_LINES_DROPPED } from './process-metrics.ts';

type Metrics = MetricObjectWithValues<MetricValue<string>>[];

/** Combines the metrics of all workers. Counts stay when a worker ends: a sum that fell would look like a restart. */
export function createCombinedMetrics({ ask, count, restarts, droppedLogLines }: Workers): () => Promise<Registry> {
  const { registry, total, processes, replaced } = workerMetrics();
  const dropped = total(...LOG_LINES_DROPPED);
  const last = new Map<number, Metrics>();
  let past: Metrics[] = [];

  return async () => {
    const answers = await ask({ method: 'GET', path: '/metrics', accept: 'application/json' });
    const ready = new Set(answers.map(({ worker }) => worker));
    for (const { worker, body } of answers) {
      // A worker that did not answer in time counts as it did last.
      if (body !== undefined) last.set(worker, JSON.parse(body.toString('utf8')));
    }
    for (const [worker, metrics] of last) {
      if (ready.has(worker)) continue;
      past.push(metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type))));
      last.delete(worker);
    }
    const { AggregatorRegistry } = loadPromClient();
    if (past.length > 1) past = [await AggregatorRegistry.aggregate(past).getMetricsAsJSON()];
    processes(ready.size, 'ready');
    processes(count, 'wanted');
    replaced(restarts());
    dropped(droppedLogLines());
    return AggregatorRegistry.aggregate([...last.values(), ...past, await registry().getMetricsAsJSON()]);
  };
}

export function workerMetrics() {
  const { registry, gauge, total } = createFamilies();
  return {
    registry,
    total,
    processes: gauge('portico_workers{state}', 'Workers of portico serve --workers: ready, and wanted.'),
    replaced: total('portico_worker_restarts_total', 'Workers that ended and were replaced.'),
  };
}
