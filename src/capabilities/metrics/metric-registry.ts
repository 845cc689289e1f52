import { createRequire } from 'node:module';
import type { Counter, Gauge } from 'prom-client';

/** Upper bounds of all histograms, in seconds: a cached read takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

export type MetricRegistry = ReturnType<typeof createMetricRegistry>;

/**
 * The metrics of one gateway. Each function creates a metric, in the order of the exposition. `described`: its name, with its labels
 * as in PromQL; an empty label is an absent one. `collect` is called at each scrape.
 */
export function createMetricRegistry() {
  const { Counter, Gauge, Histogram, Registry } = loadPromClient();
  const registry = new Registry();
  const options = (described: string, help: string) => {
    const [name = '', ...labelNames] = described.split(/[{,}]/).filter((part) => part !== '');
    return { name, help, labelNames, registers: [registry] };
  };
  return {
    registry,
    counter: (described: string, help: string, collect = (_counter: Counter) => {}) =>
      new Counter({
        ...options(described, help),
        collect() {
          collect(this);
        },
      }),
    gauge: (described: string, help: string, collect = (_gauge: Gauge) => {}) =>
      new Gauge({
        ...options(described, help),
        collect() {
          collect(this);
        },
      }),
    histogram: (described: string, help: string) =>
      new Histogram({ ...options(described, help), buckets: [...BOUNDS] }),
  };
}

/** Loads prom-client once metrics are switched on. */
export function loadPromClient(): typeof import('prom-client') {
  return createRequire(import.meta.url)('prom-client');
}
