import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../../core/config/schema/settings.ts';
import { settingsHash } from '../../core/config/settings-changes.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { CapabilityContext } from '../capability.ts';
import { createEventReports } from './event-reports.ts';
import { createHistory, createRequestStatus } from './request-status.ts';
import { createProcessStatus, createUpstreamStatus } from './status-sources.ts';
import { verdictOn } from './status-verdict.ts';

/** The status of a gateway, as `/status` returns it. Times are in ISO 8601, counts those of ten minutes unless they say otherwise. */
export type Status = Awaited<ReturnType<ReturnType<typeof createGatewayStatus>['status']>>;

/** Collects the status of a gateway from its events. Bounded by the names in settings. */
export function createGatewayStatus(context: CapabilityContext) {
  const { now, settingsFile = null } = context;
  let { config } = context;
  const time = () => new Date(now()).toISOString();
  const startedAt = time();
  let isDraining = false;
  let isSharedUp: boolean | undefined;
  const commands = createHistory(now);
  const requests = createRequestStatus(context, time);
  const upstreams = createUpstreamStatus(now, time);
  const reports = createEventReports(now, time);
  const ownProcess = createProcessStatus(context);

  const events: Events = {
    draining() {
      isDraining = true;
    },
    sharedStoreOpened() {
      isSharedUp = false;
    },
    sharedStoreChanged({ isUp }) {
      isSharedUp = isUp;
    },
    sharedCommandEnded: ({ ms, outcome }) => commands.add(ms, outcome !== 'ok'),
  };

  async function status() {
    const heap = getHeapStatistics();
    const facts = {
      /** `instance`: name of the host. */
      ...{ version: readVersion(), instance: hostname(), startedAt, at: time() },
      state: isDraining ? 'draining' : 'serving',
      ...requests.requests(),
      process: await ownProcess.status(config),
      memory: {
        residentBytes: process.memoryUsage.rss(),
        heapBytes: heap.used_heap_size,
        heapLimitBytes: heap.heap_size_limit,
      },
      snapshots: requests.snapshots(config),
      /** Redis; `null` without the setting `shared`. */
      shared: isSharedUp === undefined ? null : { isUp: isSharedUp, commands: commands.total() },
      upstreams: upstreams.status(config),
      resources: requests.resources(config),
      changes: reports.changes(),
      /** `null` where settings are not from a file. */
      settingsFile,
      /** As the metric `portico_settings_info` has it. */
      settingsHash: settingsHash(config),
    };
    return { verdict: verdictOn(facts, reports.findings()), ...facts };
  }

  return {
    listeners: [requests.events, upstreams.events, events, reports.events, ownProcess.events],
    status,
    onReload(changed: Config) {
      config = changed;
    },
  };
}
