import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { effectiveSettings, settingsHash } from '../../core/config/effective.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { CapabilityContext } from '../capability.ts';
import { createConditions } from './conditions.ts';
import { createHistory } from './history.ts';
import { createProcessStatus } from './process-status.ts';
import { recentChanges } from './recent-changes.ts';
import { createRequestStatus } from './request-status.ts';
import { verdictOn } from './status-verdict.ts';
import type { Status } from './status-view.ts';
import { createUpstreamStatus } from './upstream-status.ts';

/** Collects the status of a gateway from its events. Bounded by the names in settings. */
export function createGatewayStatus(context: CapabilityContext) {
  const { now, isFromEnvironment = () => false, settingsFile = null } = context;
  let { config } = context;
  const time = () => new Date(now()).toISOString();
  const startedAt = time();
  let isDraining = false;
  let url = '';
  let isSharedUp: boolean | undefined;
  const commands = createHistory(now);
  /** Calls that were not made because another replica had reported that the token was rejected. */
  const spared = createHistory(now);
  const requests = createRequestStatus(context, time);
  const upstreams = createUpstreamStatus(now, time);
  const { changes, events: changeEvents } = recentChanges(time);
  const conditions = createConditions(now, time);
  const ownProcess = createProcessStatus(context);

  const events: Events = {
    listening(listening) {
      ({ url } = listening);
    },
    draining() {
      isDraining = true;
    },
    callRefused({ shared }) {
      if (shared) spared.add(0);
    },
    sharedStoreOpened() {
      isSharedUp = false;
    },
    sharedStoreChanged({ isUp }) {
      isSharedUp = isUp;
    },
    sharedCommandEnded: ({ ms, outcome }) => commands.add(ms, outcome === 'timeout' || outcome === 'failed'),
  };

  const sharedStatus = (isUp: boolean) => ({ isUp, commands: commands.total(), spared: spared.total().requests });

  async function status(): Promise<Status> {
    const heap = getHeapStatistics();
    const facts = {
      ...{ version: readVersion(), instance: hostname(), startedAt, at: time() },
      state: isDraining ? 'draining' : 'serving',
      url: config.publicUrl ?? url,
      processId: process.pid,
      ...requests.requests(),
      process: await ownProcess.status(config),
      memory: {
        residentBytes: process.memoryUsage.rss(),
        heapBytes: heap.used_heap_size,
        heapLimitBytes: heap.heap_size_limit,
      },
      snapshots: requests.snapshots(config),
      shared: isSharedUp === undefined ? null : sharedStatus(isSharedUp),
      upstreams: upstreams.status(config),
      resources: requests.resources(config),
      changes: changes(),
      settingsFile,
      settingsHash: settingsHash(config, isFromEnvironment),
      settings: effectiveSettings(config, isFromEnvironment),
    } as const;
    return { verdict: verdictOn(facts, conditions.findings()), ...facts };
  }

  return {
    listeners: [requests.events, upstreams.events, events, changeEvents, conditions.events, ownProcess.events],
    status,
    onReload(changed: Config) {
      config = changed;
      requests.onReload(changed);
    },
  };
}
