import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { watchCertificates } from '../../core/certificates.ts';
import { effectiveSettings, settingsHash } from '../../core/config/effective.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { watchEventLoop } from '../../core/kernel/turns.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { CapabilityContext } from '../capability.ts';
import { createConditions } from './conditions.ts';
import { createHistory } from './history.ts';
import { recentChanges } from './recent-changes.ts';
import { createRequestStatus } from './request-status.ts';
import { verdictOn } from './status-verdict.ts';
import type { ProcessStatus, Status } from './status-view.ts';
import { createUpstreamStatus } from './upstream-status.ts';

/** Interval at which the process is looked at. */
const LOOK_MS = 100;

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

/** Observes connections, and from `listening` to `drained` the event loop and dropped lines. */
function createProcessStatus({ now, readings, resources }: CapabilityContext) {
  const certificates = watchCertificates({ resources, now });
  const delays = createHistory(now);
  const connections = new Map<string, { readonly open: number; readonly max: number }>();
  let droppedAt: string | null = null;
  let dropped = { log: 0, audit: 0 };
  let stopWatching = () => {};

  function look(delayMs: number): void {
    delays.add(delayMs, false);
    const all = { log: readings.droppedLogLines?.() ?? 0, audit: readings.droppedAuditLines?.() ?? 0 };
    if (all.log + all.audit > dropped.log + dropped.audit) droppedAt = new Date(now()).toISOString();
    dropped = all;
  }

  const events: Events = {
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.set(listener, { open, max });
    },
    listening() {
      stopWatching = watchEventLoop(LOOK_MS, look);
    },
    drained: () => stopWatching(),
  };

  return {
    events,
    async status(config: Config): Promise<ProcessStatus> {
      const inUse = await certificates(config);
      return {
        descriptors: { open: await countDescriptors(), max: readDescriptorLimit() },
        connections: [...connections].map(([listener, counts]) => ({ listener, ...counts })),
        eventLoopMs: { lastMinute: delays.lastMinute().p95Ms, tenMinutes: delays.total().p95Ms },
        certificates: inUse.map(({ block, file, to }) => {
          return { name: [...block, file].join('.'), to: new Date(to).toISOString() };
        }),
        droppedLines: { ...dropped, droppedAt },
      };
    },
  };
}
