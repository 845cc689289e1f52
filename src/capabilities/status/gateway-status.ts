import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { effectiveSettings, settingsHash } from '../../core/config/effective.ts';
import { type Config, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { define } from '../../core/resources/resource.ts';
import type { CapabilityContext } from '../capability.ts';
import { createConditions } from './conditions.ts';
import { createHistory } from './history.ts';
import { createProcessStatus } from './process-status.ts';
import { recentChanges } from './recent-changes.ts';
import { createResourceStatus, isOwnFailure } from './resource-status.ts';
import { verdictOn } from './status-verdict.ts';
import type { ResourceStatus, Status, UpstreamStatus } from './status-view.ts';
import { createUpstreamStatus } from './upstream-status.ts';

/** Collects the status of a gateway from its events. Bounded by the names in settings. */
export function createGatewayStatus({ config: first, resources, now, ...context }: CapabilityContext) {
  const { isFromEnvironment = () => false, settingsFile = null } = context;
  let config: Config = first;
  const time = () => new Date(now()).toISOString();
  const startedAt = time();
  let isDraining = false;
  let url = '';
  let held = { entries: 0, bytes: 0 };
  let isSharedUp: boolean | undefined;
  const requests = createHistory(now);
  const [hits, stale, misses] = [createHistory(now), createHistory(now), createHistory(now)];
  const commands = createHistory(now);
  const spared = createHistory(now);
  const upstreams = new Map<string, ReturnType<typeof createUpstreamStatus>>();
  const lists = new Map(resources.map(({ name }) => [name, createResourceStatus(now, time)]));
  const { changes, events: changeEvents } = recentChanges(time);
  const conditions = createConditions(now, time);
  const processStatus = createProcessStatus({ now, resources, readings: context.readings });

  const events: Events = {
    listening(listening) {
      ({ url } = listening);
    },
    draining() {
      isDraining = true;
    },
    requestEnded({ ms, openedMs = ms, status = 0, outcome, error, members }) {
      const hasFailed = status >= 500 || isOwnFailure(outcome) || isOwnFailure(error?.code);
      requests.add(openedMs, hasFailed || members?.some((member) => isOwnFailure(member.outcome)) === true);
    },
    readEnded(read) {
      lists.get(read.resource)?.events.readEnded(read);
      if (read.cache === undefined || read.cache === 'bypass') return;
      (read.cache === 'hit' ? hits : read.cache === 'stale' ? stale : misses).add(0, false);
    },
    snapshotsHeld({ entries, bytes }) {
      held = { entries, bytes };
    },
    upstreamOpened(opened) {
      const upstream = upstreams.get(opened.upstream) ?? createUpstreamStatus(now, time);
      upstreams.set(opened.upstream, upstream);
      upstream.events.upstreamOpened(opened);
    },
    upstreamClosed(closed) {
      const upstream = upstreams.get(closed.upstream);
      upstream?.events.upstreamClosed(closed);
      if (upstream?.isOpen() === false) upstreams.delete(closed.upstream);
    },
    breakerChanged: (changed) => upstreams.get(changed.upstream)?.events.breakerChanged(changed),
    bulkheadChanged: (changed) => upstreams.get(changed.upstream)?.events.bulkheadChanged(changed),
    pageFetched: (fetched) => upstreams.get(fetched.upstream)?.events.pageFetched(fetched),
    loadEnded(load) {
      upstreams.get(load.upstream)?.events.loadEnded(load);
      lists.get(load.resource)?.events.loadEnded(load);
    },
    callRefused(refused) {
      upstreams.get(refused.upstream)?.events.callRefused(refused);
      if (refused.shared) spared.add(0, true);
    },
    listLoaded: (loaded) => lists.get(loaded.resource)?.events.listLoaded(loaded),
    mappingWarning: (warning) => lists.get(warning.resource)?.events.mappingWarning(warning),
    sharedStoreOpened() {
      isSharedUp = false;
    },
    sharedStoreChanged({ isUp }) {
      isSharedUp = isUp;
    },
    sharedCommandEnded: ({ ms, outcome }) => commands.add(ms, outcome === 'timeout' || outcome === 'failed'),
  };

  /** Those of settings first, in their order. */
  function upstreamStatus(): UpstreamStatus[] {
    const names = new Set([...Object.keys(config.upstreams), ...upstreams.keys()]);
    return [...names].flatMap((name) => upstreams.get(name)?.status(name) ?? []);
  }

  function resourceStatus(): ResourceStatus[] {
    return resources.flatMap((resource) => {
      const { enabled, upstream } = resourceConfig(config, resource);
      const list = enabled && lists.get(resource.name);
      return list
        ? [{ name: resource.name, uri: define(resource, config.scheme).uri, upstream, ...list.status() }]
        : [];
    });
  }

  function snapshotStatus(): Status['snapshots'] {
    const served = { hits: hits.total().requests, stale: stale.total().requests, misses: misses.total().requests };
    const reads = served.hits + served.stale + served.misses;
    const hitRatio = reads === 0 ? null : (served.hits + served.stale) / reads;
    const recent = hits.lastMinute().requests + stale.lastMinute().requests;
    const lastMinute = { served: recent, reads: recent + misses.lastMinute().requests };
    return { ...held, maxBytes: config.cache.maxBytes, ...served, hitRatio, lastMinute };
  }

  async function status(): Promise<Status> {
    const heap = getHeapStatistics();
    const facts = {
      version: readVersion(),
      instance: hostname(),
      startedAt,
      at: time(),
      state: isDraining ? 'draining' : 'serving',
      url: config.publicUrl ?? url,
      processId: process.pid,
      requests: requests.total(),
      lastMinute: requests.lastMinute(),
      process: await processStatus.status(config),
      memory: {
        residentBytes: process.memoryUsage.rss(),
        heapBytes: heap.used_heap_size,
        heapLimitBytes: heap.heap_size_limit,
      },
      snapshots: snapshotStatus(),
      shared:
        isSharedUp === undefined
          ? null
          : { isUp: isSharedUp, commands: commands.total(), spared: spared.total().requests },
      upstreams: upstreamStatus(),
      resources: resourceStatus(),
      changes: changes(),
      settingsFile,
      settingsHash: settingsHash(config, isFromEnvironment),
      settings: effectiveSettings(config, isFromEnvironment),
    } as const;
    return { verdict: verdictOn(facts, conditions.findings()), ...facts };
  }

  return {
    listeners: [events, changeEvents, conditions.events, processStatus.events],
    status,
    onReload(changed: Config) {
      config = changed;
      const offered = new Set(resourceStatus().map(({ name }) => name));
      for (const { name } of resources) if (!offered.has(name)) lists.set(name, createResourceStatus(now, time));
    },
  };
}
