import { type Metric, Registry } from 'prom-client';
import { nextTurn } from '../../core/kernel/turns.ts';
import { type AnyFamily, BOUNDS, type Buckets, type LabelValue, type Series, type Value } from './families.ts';

/** What a scraper is sent. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** Series that are written in one turn of the event loop: some hundred lines, if all are histograms. */
const STEP_SERIES = 25;

/**
 * Writes families as OpenMetrics 1.0 or in Prometheus' own text format, in several turns of the event loop: each series is as
 * it is when its turn comes.
 */
export async function expose(families: readonly AnyFamily[], openMetrics: boolean): Promise<Exposition> {
  const contentType = openMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const registry = new Registry<typeof contentType>();
  registry.setContentType(contentType);
  const parts: string[] = [];
  let written = 0;
  for (const family of families) {
    const { type, name } = family;
    // OpenMetrics calls a counter by its name without the end, which prom-client puts to its series.
    const told = openMetrics && type === 'counter' ? name.replace(/_total$/, '') : name;
    for (let at = 0; at === 0 || at < family.series.length; at += STEP_SERIES) {
      const step = family.series.slice(at, at + STEP_SERIES);
      registry.registerMetric(metricOf(family, told, step));
      const text = await registry.getSingleMetricAsString(told);
      registry.clear();
      parts.push(at === 0 ? text : withoutHead(text));
      written += step.length;
      if (written < STEP_SERIES) continue;
      written = 0;
      await nextTurn();
    }
  }
  return { contentType, text: `${parts.join('\n')}\n${openMetrics ? '# EOF\n' : ''}` };
}

/** Without `# HELP` and `# TYPE`, which stand once. */
function withoutHead(text: string): string {
  return text.split('\n').slice(2).join('\n');
}

/**
 * Series of a family as a registry asks for them, which is how prom-client itself hands over what other processes counted. Its
 * own types hold what they count themselves, and a histogram takes no counts from elsewhere.
 */
function metricOf({ type, help, labels }: AnyFamily, name: string, series: readonly Series<Value | Buckets>[]): Metric {
  const get = async () => ({ name, help, type, values: series.flatMap((one) => valuesOf(name, labels, one)) });
  return { name, help, type, get } as unknown as Metric;
}

/** One line of the text. What lines of a series share, prom-client writes once, as for its own histograms. */
interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels: object;
  readonly value: number;
}

function valuesOf(name: string, names: readonly string[], { values, held }: Series<Value | Buckets>): Line[] {
  const named = names.map((label, index): [string, LabelValue] => [label, values[index]]);
  const sharedLabels = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  if ('value' in held) return [{ labels: {}, sharedLabels, value: held.value }];
  let count = 0;
  const buckets = held.counts.map((own, index) => {
    count += own;
    return { metricName: `${name}_bucket`, labels: { le: BOUNDS[index] ?? '+Inf' }, sharedLabels, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: held.sum },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}
