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
import { recentChanges } from './recent-changes.ts';
import { createCounts, createHistory, createRequestStatus, sumOf } from './request-status.ts';
import { verdictOn } from './status-verdict.ts';
import type { Failure, ProcessStatus, Status, UpstreamStatus } from './status-view.ts';

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

/** Codes with which an upstream judges a caller, rather than fails. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

/** Counts the calls of each upstream. `time` returns now, in ISO 8601. */
function createUpstreamStatus(now: () => number, time: () => string) {
  const upstreams = new Map<string, Calls>();

  function callsOf(upstream: string): Calls {
    const calls = upstreams.get(upstream) ?? createCalls(now);
    upstreams.set(upstream, calls);
    return calls;
  }

  const events: Events = {
    upstreamOpened({ upstream, opening, maxQueue }) {
      const calls = callsOf(upstream);
      calls.instances.set(opening, { breaker: 'closed', waiting: 0 });
      calls.maxQueue = maxQueue;
    },
    upstreamClosed({ upstream, opening }) {
      callsOf(upstream).instances.delete(opening);
    },
    breakerChanged({ upstream, opening, state, failures }) {
      const calls = callsOf(upstream);
      const instance = calls.instances.get(opening);
      if (instance === undefined) return;
      if (instance.breaker === 'closed') calls.opened = { since: time(), failures, cause: calls.cause };
      instance.breaker = state;
    },
    bulkheadChanged({ upstream, opening, waiting }) {
      const instance = callsOf(upstream).instances.get(opening);
      if (instance !== undefined) instance.waiting = waiting;
    },
    pageFetched({ upstream, ms, status = 0, error, reason = null, causes = [] }) {
      const calls = callsOf(upstream);
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      calls.history.add(ms, isFailure);
      if (!isFailure) return;
      calls.lastFailure = { at: time(), code: error, reason, causes };
      calls.cause = status >= 400 ? `${status}` : (causes.at(-1)?.split(' ').at(-1) ?? error);
    },
    // Each page was valid by itself.
    loadEnded({ upstream, error, reason = null }) {
      if (error !== 'upstream_invalid') return;
      callsOf(upstream).lastFailure = { at: time(), code: error, reason, causes: [] };
    },
    callRefused: ({ upstream, code }) => callsOf(upstream).refused.add(code),
  };

  return {
    events,
    /** Those of settings first, in their order. */
    status({ upstreams: configured }: Config): UpstreamStatus[] {
      const names = [...new Set([...Object.keys(configured), ...upstreams.keys()])];
      return names
        .filter((name) => callsOf(name).instances.size > 0)
        .map((name) => ({ name, ...statusOf(callsOf(name)) }));
    },
  };
}

type Calls = ReturnType<typeof createCalls>;

/** Calls of one upstream. After a reload it can have two instances for a while. */
function createCalls(now: () => number) {
  return {
    instances: new Map<symbol | undefined, { breaker: string; waiting: number }>(),
    history: createHistory(now),
    /** Calls that were not made, by the code of their error. */
    refused: createCounts(now),
    maxQueue: 0,
    opened: null as UpstreamStatus['opened'],
    lastFailure: null as Failure | null,
    /** What the last failure is called in the verdict. */
    cause: 'failure',
  };
}

function statusOf({ instances, history, refused, opened, maxQueue: max, lastFailure }: Calls) {
  const all = [...instances.values()];
  const breaker = all.at(-1)?.breaker ?? 'closed';
  const refusals = refused.total();
  const { breaker_open: byBreaker = 0, credential_rejected: token = 0, overloaded: queue = 0 } = refusals;
  return {
    ...{ breaker, opened: breaker === 'closed' ? null : opened, lastFailure },
    ...{ total: history.total(), lastMinute: history.lastMinute(), history: history.slots() },
    ...{ refused: sumOf(refusals), refusedBy: { breaker: byBreaker, queue, token } },
    queue: { waiting: all.reduce((sum, { waiting }) => sum + waiting, 0), max },
  };
}
