import { createMetrics } from '../../src/capabilities/metrics/metrics.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Returns Portico's own metrics, or all of them with those of the process, which prom-client declares. */
export function declaredMetrics(which: 'own' | 'all' = 'own'): DeclaredMetric[] {
  const metrics = createMetrics({
    ...{ maxCacheBytes: 1, settingsHash: () => '', droppedLogLines: () => 0, certificates: () => [] },
  });
  return metrics[which].getMetricsAsArray().map((metric) => {
    // prom-client's types lack the labels, and a metric has its type as the name of its class.
    const { name, help, labelNames } = metric as unknown as DeclaredMetric & { labelNames: string[] };
    return { name, help, type: metric.constructor.name.toLowerCase(), labels: labelNames };
  });
}
