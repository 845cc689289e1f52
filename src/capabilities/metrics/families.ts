import { createRequire } from 'node:module';
import type { Aggregator, Counter, Gauge, Histogram, MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

/** Upper bounds of all histograms, in seconds: a cached read takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** Values of labels. A series has no label whose value is `undefined`. */
type Labels<Name extends string> = { readonly [Each in Name]?: string | number | undefined };

/** Raises a counter. 0 creates the series, so that the first count is seen as one. @default by 1 */
export type Count<Name extends string = never> = (labels?: Labels<Name>, by?: number) => void;

/** Sets a value, or removes the series where it is `undefined`. */
export type SetValue<Name extends string = never> = (labels: Labels<Name>, value: number | undefined) => void;

/** Adds a duration in milliseconds to a histogram of seconds. Without one, creates the series. */
export type Observe<Name extends string = never> = (labels: Labels<Name>, ms?: number) => void;

type Described<Name extends string> = [name: string, help: string, labels?: readonly Name[]];

/** The metrics of one gateway. Each function creates a metric, in the order of the exposition, and returns how to change it. */
export type Families = ReturnType<typeof createFamilies>;

/** Creates an empty registry of prom-client, which is loaded only where metrics are on. */
export function createFamilies() {
  const prom: typeof import('prom-client') = createRequire(import.meta.url)('prom-client');
  const registry = new prom.Registry();
  const config = (name: string, help: string, labels: readonly string[] = []) => ({
    ...{ name, help, labelNames: [...labels], registers: [registry] },
  });
  return {
    registry,
    counter<Name extends string = never>(...described: Described<Name>): Count<Name> {
      const metric: Counter = new prom.Counter(config(...described));
      return (labels = {}, by = 1) => metric.inc(present(labels), by);
    },
    /** A counter whose value is read elsewhere. */
    total<Name extends string = never>(...described: Described<Name>): SetValue<Name> {
      const metric: Counter = new prom.Counter(config(...described));
      return (labels, value) => {
        metric.remove(present(labels));
        if (value !== undefined) metric.inc(present(labels), value);
      };
    },
    /** `aggregator`: how the values of several workers are combined. */
    gauge<Name extends string = never>(
      name: string,
      help: string,
      labels: readonly Name[] = [],
      aggregator: Aggregator = 'sum',
    ): SetValue<Name> {
      const metric: Gauge = new prom.Gauge({ ...config(name, help, labels), aggregator });
      return (labels, value) => {
        if (value === undefined) metric.remove(present(labels));
        else metric.set(present(labels), value);
      };
    },
    histogram<Name extends string = never>(...described: Described<Name>): Observe<Name> {
      const metric: Histogram = new prom.Histogram({ ...config(...described), buckets: [...BOUNDS] });
      return (labels, ms) => {
        if (ms === undefined) metric.zero(present(labels));
        else metric.observe(present(labels), ms / 1000);
      };
    },
  };
}

/** Returns the metrics of several registries, each as prom-client's JSON, as one. */
export function combine(registries: readonly MetricObjectWithValues<MetricValue<string>>[][]): Registry {
  const prom: typeof import('prom-client') = createRequire(import.meta.url)('prom-client');
  return prom.AggregatorRegistry.aggregate([...registries]);
}

/** prom-client would write `undefined` as text. */
function present(labels: Labels<string>): Record<string, string | number> {
  const values: Record<string, string | number> = {};
  for (const name in labels) {
    const value = labels[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
