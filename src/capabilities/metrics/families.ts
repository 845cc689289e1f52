import { createRequire } from 'node:module';
import type { Aggregator, Metric, Registry } from 'prom-client';

/** Upper bounds of all histograms, in seconds: a cached read takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** Value of a label. A series has no label whose value is `undefined`. */
type LabelValue = string | number | undefined;

/** Raises the counter with these values of its labels, which are in their order. 0 creates the series, so that the first count is seen. */
export type Count = (by?: number, ...labels: LabelValue[]) => void;

/** Sets the value of a gauge, or of a counter that is counted elsewhere; `undefined` removes the series. */
export type SetValue = (value: number | undefined, ...labels: LabelValue[]) => void;

/** Adds a duration in milliseconds to a histogram of seconds. `undefined` creates the series. */
export type Observe = (ms: number | undefined, ...labels: LabelValue[]) => void;

interface Series<Held> {
  readonly labels: Readonly<Record<string, string | number>>;
  /** The values of all labels of the metric, in their order. */
  readonly key: readonly LabelValue[];
  readonly held: Held;
}

/** The metrics of one gateway. Each function creates a metric, in the order of the exposition, and returns how to change it. */
export type Families = ReturnType<typeof createFamilies>;

/** `described`: the name of a metric, with its labels as in PromQL. Series of our own are found faster (docs/decisions/0035). */
export function createFamilies() {
  const metrics: Metric[] = [];
  let registry: Registry | undefined;

  function register<Held>(
    type: string,
    [described, help, aggregator = 'sum']: [described: string, help: string, aggregator?: Aggregator],
    create: () => Held,
    valuesOf: (series: Series<Held>, name: string) => object[],
  ) {
    const [name = '', ...labelNames] = described.split(/[{,}]/).filter((part) => part !== '');
    const { seriesOf, remove, all } = createSeries(labelNames, create);
    const get = async () => ({ name, help, type, aggregator, values: all.flatMap((one) => valuesOf(one, name)) });
    metrics.push({ name, help, type, aggregator, labelNames, get } as unknown as Metric);
    return { seriesOf, remove };
  }

  function registerValue(type: 'counter' | 'gauge', ...described: Parameters<typeof register>[1]) {
    return register(
      type,
      described,
      () => ({ value: 0 }),
      ({ labels, held: { value } }) => [{ labels, value }],
    );
  }

  function setter({ seriesOf, remove }: ReturnType<typeof registerValue>): SetValue {
    return (value, ...labels) => {
      if (value === undefined) remove(labels);
      else seriesOf(labels).value = value;
    };
  }

  return {
    /** Returns the registry with all metrics; none is created afterwards. */
    registry(): Registry {
      registry ??= registryOf(metrics);
      return registry;
    },
    counter(described: string, help: string): Count {
      const { seriesOf } = registerValue('counter', described, help);
      // A rate needs the 0 before the first count.
      if (!described.includes('{')) seriesOf([]);
      return (by = 1, ...labels) => {
        seriesOf(labels).value += by;
      };
    },
    total: (described: string, help: string) => setter(registerValue('counter', described, help)),
    gauge: (described: string, help: string, aggregator?: Aggregator) =>
      setter(registerValue('gauge', described, help, aggregator)),
    histogram(described: string, help: string): Observe {
      const create = () => ({ counts: BOUNDS.map(() => 0), count: 0, sum: 0 });
      const { seriesOf } = register('histogram', [described, help], create, valuesOfHistogram);
      return (ms, ...labels) => {
        const held = seriesOf(labels);
        if (ms === undefined) return;
        const seconds = ms / 1000;
        held.count += 1;
        held.sum += seconds;
        let index = 0;
        while (index < BOUNDS.length && seconds > (BOUNDS[index] as number)) index += 1;
        if (index < BOUNDS.length) held.counts[index] = (held.counts[index] ?? 0) + 1;
      };
    },
  };
}

function createSeries<Held>(names: readonly string[], create: () => Held) {
  const all: Series<Held>[] = [];
  /** The same, those that are used most first: each use of one moves it forward. */
  const byUse: Series<Held>[] = [];

  function add(key: readonly LabelValue[]): Held {
    const labels: Record<string, string | number> = {};
    for (const [index, value] of key.entries()) if (value !== undefined) labels[names[index] as string] = value;
    const series = { labels, key: names.map((_, index) => key[index]), held: create() };
    all.push(series);
    byUse.push(series);
    return series.held;
  }

  return {
    seriesOf(key: readonly LabelValue[]): Held {
      for (let index = 0; index < byUse.length; index += 1) {
        const series = byUse[index] as Series<Held>;
        if (!isSame(series.key, key)) continue;
        if (index > 0) {
          byUse[index] = byUse[index - 1] as Series<Held>;
          byUse[index - 1] = series;
        }
        return series.held;
      }
      return add(key);
    },
    remove(key: readonly LabelValue[]): void {
      for (const list of [all, byUse]) {
        const index = list.findIndex((series) => isSame(series.key, key));
        if (index !== -1) list.splice(index, 1);
      }
    },
    all,
  };
}

/** `other` may lack values at its end. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

/** Durations: how many fell below each bound and above the one before. */
interface Durations {
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Returns the values of a histogram's series; those of its buckets include all before them. */
function valuesOfHistogram({ labels, held: { counts, count, sum } }: Series<Durations>, name: string) {
  let below = 0;
  const buckets = BOUNDS.map((le, index) => {
    below += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Loads prom-client with the first scrape, since that takes 50 ms of a start, and 10 MB. */
export function loadPromClient(): typeof import('prom-client') {
  return createRequire(import.meta.url)('prom-client');
}

function registryOf(metrics: readonly Metric[]): Registry {
  const registry = new (loadPromClient().Registry)();
  for (const metric of metrics) registry.registerMetric(metric);
  return registry;
}
