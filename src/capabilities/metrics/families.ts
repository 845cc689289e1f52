import { createRequire } from 'node:module';

/** Upper bounds of all histograms, in seconds: a cached read takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** Value of a label. A series has no label whose value is `undefined`. */
type LabelValue = string | number | undefined;

type Labels = Readonly<Record<string, string | number>>;

/** Raises the counter with these values of its labels, which are in their order. 0 creates the series, so that the first count is seen. */
type Count = (by?: number, ...labels: LabelValue[]) => void;

/** Sets the value of a gauge; `undefined` removes the series. */
type SetValue = (value: number | undefined, ...labels: LabelValue[]) => void;

/** Adds a duration in milliseconds to a histogram of seconds. */
type Observe = (ms: number, ...labels: LabelValue[]) => void;

/** The metrics of one gateway. Each function creates a metric, in the order of the exposition, and returns how to change it. */
export type Families = ReturnType<typeof createFamilies>;

/** `described`: the name of a metric, with its labels as in PromQL. */
export function createFamilies() {
  const { Counter, Gauge, Histogram, Registry } = loadPromClient();
  const registry = new Registry();
  const configOf = (described: string, help: string) => {
    const [name = '', ...labelNames] = described.split(/[{,}]/).filter((part) => part !== '');
    return { name, help, labelNames, registers: [registry] };
  };

  return {
    registry,
    counter(described: string, help: string): Count {
      const { seriesOf, all } = createSeries(described, () => ({ value: 0 }));
      new Counter({
        ...configOf(described, help),
        collect() {
          this.reset();
          for (const { labels, series } of all()) this.inc(labels, series.value);
        },
      });
      return (by = 1, ...values) => {
        seriesOf(values).value += by;
      };
    },
    /** A counter that is counted elsewhere, and read at each scrape. `undefined`: it has no series. */
    total(described: string, help: string, read: () => number | undefined): void {
      new Counter({
        ...configOf(described, help),
        collect() {
          const value = read();
          this.remove();
          if (value !== undefined) this.inc(value);
        },
      });
    },
    gauge(described: string, help: string): SetValue {
      const { seriesOf, remove, all } = createSeries(described, () => ({ value: 0 }));
      new Gauge({
        ...configOf(described, help),
        collect() {
          this.reset();
          for (const { labels, series } of all()) this.set(labels, series.value);
        },
      });
      return (value, ...values) => {
        if (value === undefined) remove(values);
        else seriesOf(values).value = value;
      };
    },
    histogram(described: string, help: string): Observe {
      const metric = new Histogram({ ...configOf(described, help), buckets: [...BOUNDS] });
      const { seriesOf } = createSeries(described, (labels) => metric.labels(labels));
      return (ms, ...values) => seriesOf(values).observe(ms / 1000);
    },
  };
}

/**
 * Keeps a series for each combination of label values. prom-client checks and hashes the labels at each call, which took a tenth of an
 * uncached read: counters and gauges are given to it when they are scraped.
 */
function createSeries<Series>(described: string, create: (labels: Labels) => Series) {
  const [, ...names] = described.split(/[{,}]/).filter((part) => part !== '');
  const kept = new Map<string, { readonly labels: Labels; readonly series: Series }>();
  const keyOf = (values: readonly LabelValue[]) => (values.length === 1 ? String(values[0]) : values.join('\n'));

  function add(key: string, values: readonly LabelValue[]): Series {
    const known = names.map((name, index) => [name, values[index]] as const);
    const labels = Object.fromEntries(
      known.filter((label): label is [string, string | number] => label[1] !== undefined),
    );
    const series = create(labels);
    kept.set(key, { labels, series });
    return series;
  }

  return {
    all: () => kept.values(),
    seriesOf(values: readonly LabelValue[]): Series {
      const key = keyOf(values);
      return kept.get(key)?.series ?? add(key, values);
    },
    remove(values: readonly LabelValue[]): void {
      kept.delete(keyOf(values));
    },
  };
}

/** Loads prom-client once metrics are switched on. */
export function loadPromClient(): typeof import('prom-client') {
  return createRequire(import.meta.url)('prom-client');
}
