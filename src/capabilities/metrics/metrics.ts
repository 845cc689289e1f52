import type { Registry } from 'prom-client';
import { watchCertificates } from '../../core/certificates.ts';
import { settingsHash } from '../../core/config/settings-changes.ts';
import type { Readings } from '../../core/hooks.ts';
import { type Operation, openOperation, unstored } from '../../core/http/operations/operation.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { defineCapability } from '../capability.ts';
import { type Certificates, credentialMetrics } from './credential-metrics.ts';
import { createFamilies, loadPromClient } from './families.ts';
import { ownMetrics, processMetrics, type SettingsMetricsOptions, settingsMetrics } from './process-metrics.ts';
import { readMetrics, requestMetrics, type SnapshotBounds, upstreamMetrics } from './request-metrics.ts';
import { sharedMetrics } from './shared-metrics.ts';

/** Counts events, for Prometheus (docs/reference.md). */
export const metricsCapability = defineCapability({
  open(_settings, { config, readings, now }) {
    if (!config.admin.enabled) return undefined;
    let current = config;
    let hash: string | undefined;
    const certificates = watchCertificates(now);
    // Those that are in use from now on, even if their files are replaced before the first scrape.
    void certificates(config);
    const { listeners, collect } = createMetrics({
      certificates: () => certificates(current),
      ...{ snapshots: config.cache, version: readVersion(), dropped: readings, now },
      settingsHash() {
        hash ??= settingsHash(current);
        return hash;
      },
    });
    const operations = [metricsOperation(collect)];
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

interface MetricsOptions extends SettingsMetricsOptions {
  readonly snapshots: SnapshotBounds;
  readonly version: string;
  readonly dropped: Partial<Readings>;
  readonly certificates: Certificates;
}

/** Creates the metrics of one gateway. Label values are of closed lists: no caller and no upstream can create series. */
export function createMetrics({ snapshots, version, dropped, certificates, ...options }: MetricsOptions) {
  const families = createFamilies();
  const requests = requestMetrics(families);
  const reads = readMetrics(families, snapshots);
  const upstreams = upstreamMetrics(families);
  const credentials = credentialMetrics(families, certificates);
  const shared = sharedMetrics(families);
  const settings = settingsMetrics(families, options);
  const own = ownMetrics(families, version, dropped);
  const all = loadPromClient().Registry.merge([families.registry, processMetrics()]);
  return {
    listeners: [requests, reads, upstreams, credentials.events, shared, settings.events, own],
    own: families.registry,
    all,
    async collect(): Promise<Registry> {
      settings.collect();
      await credentials.collect();
      return all;
    },
  };
}

/** Not a probe, so that other host names are refused: no page in a browser can read the metrics (DNS rebinding). */
function metricsOperation(collect: () => Promise<Registry>): Operation {
  return openOperation('/metrics', async () => {
    const registry = await collect();
    return unstored(await registry.metrics(), registry.contentType);
  });
}
