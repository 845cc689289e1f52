/** Upper bounds of all histograms, in seconds: a read from cache takes less than the first, and a deadline is at most the last. */
export const BOUNDS: readonly number[] = [
  ...[0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];

/** A label's value; where it is `undefined`, the series is without that label. */
export type LabelValue = string | number | undefined;

/** A number that goes up, or one that goes anywhere. */
export interface Value {
  value: number;
}

/** How many observations were how large. */
export interface Buckets {
  /** By bound, each without those below it; the last for what is above all. */
  readonly counts: number[];
  sum: number;
  observe(value: number): void;
}

/** One series of a family: its labels' values in the order of their names, and what is held of it. */
export interface Series<Held> {
  readonly values: readonly LabelValue[];
  readonly held: Held;
}

/** A metric with all its series. Whoever adds to one looks it up by its labels' values: in nested tables, with no key built. */
export interface Family<Held, Labels extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Labels;
  /** Makes the series where there is none yet. */
  at(...values: { readonly [Each in keyof Labels]: LabelValue }): Held;
  /** Forgets the series whose first label has this value. */
  forget(value: LabelValue): void;
  readonly series: readonly Series<Held>[];
}

/** What all families are told by: names of labels, and what the metric means. */
interface Described<Labels extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  /** @default none */
  readonly labels?: Labels;
}

export type AnyFamily = Family<Value> | Family<Buckets>;

/** All metrics of one gateway, in the order in which they were made. */
export interface Families {
  counter<const Labels extends readonly string[] = []>(described: Described<Labels>): Family<Value, Labels>;
  gauge<const Labels extends readonly string[] = []>(described: Described<Labels>): Family<Value, Labels>;
  /** Of seconds. */
  histogram<const Labels extends readonly string[] = []>(described: Described<Labels>): Family<Buckets, Labels>;
  readonly all: readonly AnyFamily[];
}

/**
 * Plain counts, since what is counted with each request must cost next to nothing: prom-client hashes the labels of each
 * observation. It is given these counts when somebody asks for them (`exposition.ts`).
 */
export function createFamilies(): Families {
  const all: AnyFamily[] = [];
  function add<Held, Labels extends readonly string[]>(family: Family<Held, Labels>): Family<Held, Labels> {
    all.push(family as unknown as AnyFamily);
    return family;
  }
  return {
    counter: (described) => add(createFamily('counter', described, createValue)),
    gauge: (described) => add(createFamily('gauge', described, createValue)),
    histogram: (described) => add(createFamily('histogram', described, createBuckets)),
    all,
  };
}

interface Place<Held> {
  held?: Held;
  readonly below: Map<LabelValue, Place<Held>>;
}

function createFamily<Held, Labels extends readonly string[]>(
  type: Family<Held>['type'],
  { name, help, labels }: Described<Labels>,
  create: () => Held,
): Family<Held, Labels> {
  const root: Place<Held> = { below: new Map() };
  let series: Series<Held>[] = [];
  return {
    ...{ name, type, help },
    labels: labels ?? ([] as unknown as Labels),
    at(...values) {
      let place = root;
      for (const value of values) {
        let next = place.below.get(value);
        if (next === undefined) {
          next = { below: new Map() };
          place.below.set(value, next);
        }
        place = next;
      }
      if (place.held === undefined) {
        place.held = create();
        series.push({ values, held: place.held });
      }
      return place.held;
    },
    forget(value) {
      root.below.delete(value);
      series = series.filter(({ values: [first] }) => first !== value);
    },
    get series() {
      return series;
    },
  };
}

function createValue(): Value {
  return { value: 0 };
}

function createBuckets(): Buckets {
  const counts = Array<number>(BOUNDS.length + 1).fill(0);
  const buckets: Buckets = {
    counts,
    sum: 0,
    observe(value) {
      let index = 0;
      while (index < BOUNDS.length && value > (BOUNDS[index] as number)) index += 1;
      counts[index] = (counts[index] as number) + 1;
      buckets.sum += value;
    },
  };
  return buckets;
}
