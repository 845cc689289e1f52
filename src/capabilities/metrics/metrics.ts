import { settingsHash } from '../../core/config/effective.ts';
import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { defineCapability } from '../capability.ts';
import { credentialMetrics } from './credential-metrics.ts';
import { createFamilies } from './families.ts';
import { type DroppedLines, processMetrics } from './process-metrics.ts';
import { readMetrics, type SnapshotBounds } from './read-metrics.ts';
import { requestMetrics } from './request-metrics.ts';
import { type SettingsMetricsOptions, settingsMetrics } from './settings-metrics.ts';
import { sharedMetrics } from './shared-metrics.ts';
import { upstreamMetrics } from './upstream-metrics.ts';

/** Counts events, for Prometheus (docs/metrics.md). */
export const metricsCapability = defineCapability({
  open(_settings, { config, readings, now, isFromEnvironment = () => false }) {
    if (!config.admin.enabled || !config.admin.metrics) return undefined;
    let current = config;
    let hash: string | undefined;
    const { listeners, expose } = createMetrics({
      ...{ snapshots: config.cache, version: readVersion(), dropped: readings, now },
      settingsHash() {
        hash ??= settingsHash(current, isFromEnvironment);
        return hash;
      },
    });
    const operations = [metricsOperation(expose)];
    return {
      listeners,
      adminOperations: () => operations,
      onReload(changed) {
        current = changed;
        hash = undefined;
      },
    };
  },
});

export interface MetricsOptions extends SettingsMetricsOptions {
  readonly snapshots: SnapshotBounds;
  /** Version of this package. */
  readonly version: string;
  readonly dropped: DroppedLines;
}

/**
 * Creates the metrics of one gateway, which `listeners` change. Label values are names in settings and members of closed
 * lists: no caller and no upstream can create series.
 */
export function createMetrics({ snapshots, version, dropped, ...options }: MetricsOptions) {
  const families = createFamilies();
  const requests = requestMetrics(families);
  const reads = readMetrics(families, snapshots);
  const upstreams = upstreamMetrics(families);
  const credentials = credentialMetrics(families);
  const shared = sharedMetrics(families);
  const settings = settingsMetrics(families, options);
  const { events, collect } = processMetrics(families, version, dropped);
  return {
    listeners: [requests, reads, upstreams, credentials, shared, settings.events, events],
    registry: families.registry,
    /** Returns all metrics as OpenMetrics 1.0, or in the text format of Prometheus. */
    async expose(asOpenMetrics: boolean): Promise<string> {
      settings.collect();
      await collect();
      const text = await families.registry.metrics();
      return asOpenMetrics ? openMetricsOf(text) : text;
    },
  };
}

/** prom-client renames the counters of a registry for good where that is to write OpenMetrics. */
function openMetricsOf(text: string): string {
  return `${text.replaceAll('\n\n', '\n').replaceAll(/^(# \w+ \w+)_total /gm, '$1 ')}# EOF\n`;
}

/**
 * Not a probe: on loopback, other host names are refused, so that no page in a browser can read the metrics (DNS
 * rebinding).
 */
function metricsOperation(expose: (asOpenMetrics: boolean) => Promise<string>): OpenOperation {
  return {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: false,
    open: true,
    async respond({ fields: { accept = '' } }) {
      const asOpenMetrics = accept.includes('application/openmetrics-text');
      const type = asOpenMetrics ? 'application/openmetrics-text; version=1.0.0' : 'text/plain; version=0.0.4';
      return {
        status: 200,
        headers: ['Content-Type', `${type}; charset=utf-8`, 'Cache-Control', 'no-store'],
        body: Buffer.from(await expose(asOpenMetrics)),
      };
    },
  };
}
