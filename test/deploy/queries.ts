import { declaredMetrics } from '../capabilities/metrics/scraped.ts';

/** Labels that Prometheus itself puts to whatever it scrapes, and metrics. */
const OWN_LABELS = ['job', 'instance', 'le'];
const OWN_METRICS = ['up'];

/** Labels by the names of all series that Portico exports. */
const LABELS = new Map<string, ReadonlySet<string>>(
  declaredMetrics().flatMap(({ name, type, labels }) => {
    const own = new Set([...labels, ...OWN_LABELS]);
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name];
    return names.map((each) => [each, own] as const);
  }),
);

const SELECTOR = /\b([a-z]\w*)\s*(?:\{([^}]*)\})?/g;
const WORDS: ReadonlySet<string> = new Set([
  ...['and', 'or', 'unless', 'on', 'ignoring', 'by', 'without', 'group_left', 'sum', 'max', 'min', 'avg', 'count'],
  ...['rate', 'absent', 'time', 'increase', 'changes', 'histogram_quantile', 'max_over_time', 'label_values'],
]);

/**
 * What a query names that is not there: metrics, labels in their selectors, and labels that it groups by. Knows as much of
 * PromQL as the queries here need; promtool checks that they are valid PromQL.
 */
export function unknownIn(query: string): string[] {
  const plain = query.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '');
  const grouped = [...plain.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    names(list),
  );
  const bare = plain
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
    .replace(/label_values\((\w+),[^)]*\)/, '$1');
  const unknown: string[] = [];
  const metrics: string[] = [];
  for (const [, name = '', matchers = ''] of bare.matchAll(SELECTOR)) {
    if (WORDS.has(name) || OWN_METRICS.includes(name)) continue;
    const labels = LABELS.get(name);
    if (labels === undefined) unknown.push(name);
    else {
      metrics.push(name);
      for (const label of names(matchers.replace(/(?:=~|!~|!=|=)\s*""/g, ''))) {
        if (!labels.has(label)) unknown.push(`${name}{${label}}`);
      }
    }
  }
  const known = new Set([...OWN_LABELS, ...metrics.flatMap((name) => [...(LABELS.get(name) ?? [])])]);
  return [...unknown, ...grouped.filter((label) => !known.has(label)).map((label) => `by ${label}`)];
}

/** The selectors of a query that have no `job="portico"`, by their metrics. */
export function withoutJob(query: string): string[] {
  const metrics = [...query.matchAll(/\b([a-z]\w*)\b(\{[^}]*\})?/g)];
  return metrics
    .filter(([, name = '', labels = '']) => isMetric(name) && !/[{,]\s*job="portico"/.test(labels))
    .map(([, name = '']) => name);
}

function isMetric(name: string): boolean {
  return OWN_METRICS.includes(name) || LABELS.has(name);
}

function names(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
