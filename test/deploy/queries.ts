import { declaredMetrics } from '../../scripts/settings/metric-list.ts';

/** Labels and metrics that Prometheus adds. */
const OWN_LABELS = ['job', 'instance', 'le'];
const OWN_METRICS = ['up'];

/** Labels of all series that Portico exports, by their names. */
const LABELS = new Map<string, ReadonlySet<string>>(
  declaredMetrics('all').flatMap(({ name, type, labels }) => {
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
 * Returns the names in a query that do not exist: of metrics, of labels in their selectors, and of labels that it groups by.
 * Parses as much of PromQL as the queries here need; promtool checks that they are valid.
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

/** Returns the metrics of a query whose selectors lack `job="portico"`. */
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
