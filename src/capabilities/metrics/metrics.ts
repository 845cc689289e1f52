import type { Registry } from 'prom-client';
import { type CertificateFile, certificatesIn } from '../../core/certificates.ts';
import { settingsHash } from '../../core/config/settings-changes.ts';
import { openOperation, unstored } from '../../core/http/operations/operation.ts';
import { defineCapability } from '../capability.ts';
import { createMetricRegistry, loadPromClient } from './metric-registry.ts';
import { credentialMetrics, processMetrics, settingsMetrics } from './process-metrics.ts';
import { readMetrics, requestMetrics, sharedMetrics, upstreamMetrics } from './request-metrics.ts';

/** Counts events, for Prometheus (docs/reference.md). */
export const metricsCapability = defineCapability({
  open(_settings, { config, droppedLogLines }) {
    if (!config.admin.enabled) return undefined;
    let current = config;
    const { listeners, all } = createMetrics({
      maxCacheBytes: config.cache.maxBytes,
      certificates: () => certificatesIn(current),
      settingsHash: () => settingsHash(current),
      droppedLogLines,
    });
    // Not a probe, so that other host names are refused: no page in a browser can read the metrics (DNS rebinding).
    const operations = [openOperation('/metrics', async () => unstored(await all.metrics(), all.contentType))];
    return {
      listeners,
      adminOperations: () => operations,
      onReload(changed) {
        current = changed;
      },
    };
  },
});

interface MetricsOptions {
  readonly maxCacheBytes: number;
  readonly certificates: () => readonly CertificateFile[];
  readonly settingsHash: () => string;
  readonly droppedLogLines?: (() => number | undefined) | undefined;
}

/** Creates the metrics of one gateway. Label values are of closed lists: no caller and no upstream can create series. */
export function createMetrics({ maxCacheBytes, certificates, settingsHash, droppedLogLines }: MetricsOptions) {
  const metrics = createMetricRegistry();
  const listeners = [
    requestMetrics(metrics),
    readMetrics(metrics, maxCacheBytes),
    upstreamMetrics(metrics),
    credentialMetrics(metrics, certificates),
    sharedMetrics(metrics),
    settingsMetrics(metrics, settingsHash),
  ];
  processMetrics(metrics, droppedLogLines);
  return {
    listeners,
    own: metrics.registry,
    all: loadPromClient().Registry.merge([metrics.registry, defaultMetrics()]),
  };
}

let defaults: Registry | undefined;

/** prom-client's metrics of the process: one registry for all gateways, because its observers never end. */
function defaultMetrics(): Registry {
  if (defaults === undefined) {
    const { collectDefaultMetrics, Registry } = loadPromClient();
    defaults = new Registry();
    collectDefaultMetrics({ register: defaults });
  }
  return defaults;
}
