import type { Events } from '../../core/kernel/events.ts';
import { credentialMetrics } from './credentials.ts';
import type { Exposition } from './exposition.ts';
import { createFamilies, type Families } from './families.ts';
import { type DroppedLines, processMetrics } from './process.ts';
import { readMetrics, type SnapshotBounds } from './reads.ts';
import { requestMetrics } from './requests.ts';
import { sharedMetrics } from './shared.ts';
import { traceMetrics } from './traces.ts';
import { upstreamMetrics } from './upstreams.ts';

export interface MetricsOptions extends DroppedLines {
  readonly snapshots: SnapshotBounds;
  /** Of this package. */
  readonly version: string;
}

/** The metrics of one gateway. */
export interface Metrics {
  /** The listeners that count. */
  readonly listeners: readonly Events[];
  /** What was counted so far, as OpenMetrics or in Prometheus' own text format. */
  expose(openMetrics: boolean): Promise<Exposition>;
  readonly families: Families['all'];
}

/** Counts what events tell. Label values are names of settings and members of closed lists: nothing that anybody can make up. */
export function createMetrics({ snapshots, version, ...dropped }: MetricsOptions): Metrics {
  const families = createFamilies();
  const requests = requestMetrics(families);
  const reads = readMetrics(families, snapshots);
  const calls = upstreamMetrics(families);
  const credentials = credentialMetrics(families);
  const shared = sharedMetrics(families);
  const traces = traceMetrics(families);
  const ofProcess = processMetrics(families, version, dropped);
  return {
    listeners: [requests, reads, calls, credentials, shared, traces, ofProcess.events],
    families: families.all,
    async expose(openMetrics) {
      // Whoever never asks need not have it loaded.
      const [{ expose }] = await Promise.all([import('./exposition.ts'), ofProcess.collect()]);
      return expose(families.all, openMetrics);
    },
  };
}
