import { type Metric, type MetricValueWithName, Registry } from 'prom-client';
import { type AnyFamily, BOUNDS, type Buckets, type LabelValue, type Value } from './families.ts';

/** What a scraper is sent. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** Writes families as they are now, as OpenMetrics 1.0 or in Prometheus' own text format. */
export async function expose(families: readonly AnyFamily[], openMetrics: boolean): Promise<Exposition> {
  const contentType = openMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const registry = new Registry<typeof contentType>();
  registry.setContentType(contentType);
  for (const family of families) registry.registerMetric(metricOf(family));
  return { contentType, text: await registry.metrics() };
}

/**
 * A family as a registry asks it, which is how prom-client itself hands over what other processes counted. Its own types hold
 * what they count themselves, and a histogram takes no counts from elsewhere.
 */
function metricOf(family: AnyFamily): Metric {
  const { name, help, type } = family;
  const metric = { name, help, type, get: async () => ({ ...metric, values: valuesOf(family) }) };
  return metric as unknown as Metric;
}

function valuesOf(family: AnyFamily): Partial<MetricValueWithName<string>>[] {
  const { name, labels } = family;
  return family.series.flatMap(
    ({ values, held }: { readonly values: readonly LabelValue[]; readonly held: object }) => {
      const named = labels.map((label, index) => [label, values[index]] as const);
      const set = Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<
        string,
        string | number
      >;
      return family.type === 'histogram'
        ? histogramValues(name, set, held as Buckets)
        : [{ labels: set, value: (held as Value).value }];
    },
  );
}

function histogramValues(
  name: string,
  labels: Record<string, string | number>,
  { counts, sum }: Buckets,
): MetricValueWithName<string>[] {
  let count = 0;
  const buckets = counts.map((own, index) => {
    count += own;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: BOUNDS[index] ?? '+Inf' }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
