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
export type Count = (by?: number, ...labels: LabelValue[]) => void;

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
      const metric = new Counter(configOf(described, help));
      const { childOf } = createChildren(described, (labels) => metric.labels(labels));
      return (by = 1, ...values) => childOf(values).inc(by);
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
      const metric = new Gauge(configOf(described, help));
      const { childOf, removed } = createChildren(described, (labels) => metric.labels(labels));
      return (value, ...values) => {
        if (value === undefined) metric.remove(removed(values));
        else childOf(values).set(value);
      };
    },
    histogram(described: string, help: string): Observe {
      const metric = new Histogram({ ...configOf(described, help), buckets: [...BOUNDS] });
      const { childOf } = createChildren(described, (labels) => metric.labels(labels));
      return (ms, ...values) => childOf(values).observe(ms / 1000);
    },
  };
}

/** Keeps the child of a metric for each combination of label values: prom-client looks for it at each call. */
function createChildren<Child>(described: string, create: (labels: Labels) => Child) {
  const [, ...names] = described.split(/[{,}]/).filter((part) => part !== '');
  const children = new Map<string, Child>();

  function labelsOf(values: readonly LabelValue[]): Labels {
    const known = names.map((name, index) => [name, values[index]] as const);
    return Object.fromEntries(known.filter((label): label is [string, string | number] => label[1] !== undefined));
  }

  return {
    childOf(values: readonly LabelValue[]): Child {
      const key = values.join('\n');
      const child = children.get(key) ?? create(labelsOf(values));
      children.set(key, child);
      return child;
    },
    /** Forgets a child, and returns its labels. */
    removed(values: readonly LabelValue[]): Labels {
      children.delete(values.join('\n'));
      return labelsOf(values);
    },
  };
}

/** Loads prom-client once metrics are switched on. */
export function loadPromClient(): typeof import('prom-client') {
  return createRequire(import.meta.url)('prom-client');
}
