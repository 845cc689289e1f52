import { createRequire } from 'node:module';
import type { Aggregator, Metric, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { createSeries, type Labels } from './series.ts';

/** Upper bounds of all histograms, in seconds: a cached read takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** Raises a counter. 0 creates the series, so that the first count is seen as one. @default by 1 */
export type Count<Name extends string = never> = (labels?: Labels<Name>, by?: number) => void;

/** Sets a value, or removes the series where it is `undefined`. */
export type SetValue<Name extends string = never> = (labels: Labels<Name>, value: number | undefined) => void;

/** Adds a duration in milliseconds to a histogram of seconds. Without one, creates the series. */
export type Observe<Name extends string = never> = (labels: Labels<Name>, ms?: number) => void;

type Described<Name extends string> = [name: string, help: string, labels?: readonly Name[]];

/** What prom-client writes: its own name is that of the metric, unless the value has one. */
interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** The metrics of one gateway. Each function creates a metric, in the order of the exposition, and returns how to change it. */
export type Families = ReturnType<typeof createFamilies>;

/**
 * Creates an empty registry of prom-client, which is loaded only where metrics are on. It writes and combines metrics; their
 * values are in series of our own, which are found faster (docs/decisions/0035).
 */
export function createFamilies() {
  const prom: typeof import('prom-client') = createRequire(import.meta.url)('prom-client');
  const registry = new prom.Registry();

  function register(
    [name, help, labelNames = []]: Described<string>,
    type: string,
    aggregator: Aggregator,
    values: () => Value[],
  ): void {
    const described = { name, help, type, aggregator };
    const metric = { ...described, labelNames, get: async () => ({ ...described, values: values() }) };
    registry.registerMetric(metric as unknown as Metric);
  }

  function plain(type: 'counter' | 'gauge', aggregator: Aggregator, described: Described<string>) {
    const [, , labels = []] = described;
    const series = createSeries(labels, () => ({ value: 0 }));
    register(described, type, aggregator, () =>
      series.all().map(({ labels: own, held: { value } }) => ({ labels: own, value })),
    );
    return series;
  }

  function setter(series: ReturnType<typeof plain>): SetValue<string> {
    return (labels, value) => {
      if (value === undefined) series.remove(labels);
      else series.of(labels).value = value;
    };
  }

  return {
    registry,
    counter<Name extends string = never>(...described: Described<Name>): Count<Name> {
      const series = plain('counter', 'sum', described);
      // A rate needs the 0 before the first count.
      if (described[2] === undefined) series.of({});
      return (labels = {}, by = 1) => {
        series.of(labels).value += by;
      };
    },
    /** A counter whose value is read elsewhere. */
    total<Name extends string = never>(...described: Described<Name>): SetValue<Name> {
      return setter(plain('counter', 'sum', described));
    },
    /** `aggregator`: how the values of several workers are combined. */
    gauge<Name extends string = never>(
      name: string,
      help: string,
      labels: readonly Name[] = [],
      aggregator: Aggregator = 'sum',
    ): SetValue<Name> {
      return setter(plain('gauge', aggregator, [name, help, labels]));
    },
    histogram<Name extends string = never>(...described: Described<Name>): Observe<Name> {
      const [name, , labels = []] = described;
      const series = createSeries(labels, () => ({ counts: BOUNDS.map(() => 0), count: 0, sum: 0 }));
      register(described, 'histogram', 'sum', () =>
        series.all().flatMap(({ labels: own, held }) => valuesOf(name, own, held)),
      );
      return (of, ms) => {
        const held = series.of(of);
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

/** Durations: how many fell below each bound and above the one before. */
interface Durations {
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Returns the values of a histogram's series; those of its buckets include all before them. */
function valuesOf(name: string, labels: Value['labels'], { counts, count, sum }: Durations): Value[] {
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

/** Returns the metrics of several registries, each as prom-client's JSON, as one. */
export function combine(registries: readonly MetricObjectWithValues<MetricValue<string>>[][]): Registry {
  const prom: typeof import('prom-client') = createRequire(import.meta.url)('prom-client');
  return prom.AggregatorRegistry.aggregate([...registries]);
}
