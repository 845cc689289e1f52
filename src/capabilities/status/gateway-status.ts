import { getHeapStatistics } from 'node:v8';
import { effectiveSettings } from '../../core/config/effective.ts';
import { type Config, resourceConfig } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { define } from '../../core/resources/resource.ts';
import type { CapabilityContext } from '../capability.ts';
import { createHistory, type History } from './history.ts';
import { recentChanges } from './recent-changes.ts';
import type { Failure, MappingWarning, ResourceStatus, Status, UpstreamStatus } from './status-view.ts';

/** Codes with which an upstream judges a caller, rather than fails. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

interface LastLoad {
  readonly at: string;
  readonly items: number;
  readonly warnings: MappingWarning[];
}

/** What is counted of one upstream, and its open instances: after a reload there can be two for a while. */
interface Upstream {
  readonly breakers: Map<symbol | undefined, string>;
  readonly calls: History;
  readonly refused: History;
  lastFailure: Failure | null;
}

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
  const upstreams = new Map<string, Upstream>();
  const loads = new Map<string, LastLoad>();
  const { changes, events: changeEvents } = recentChanges(time);

  function createUpstream(): Upstream {
    return { breakers: new Map(), calls: createHistory(now), refused: createHistory(now), lastFailure: null };
  }

  function fail(name: string, failure: Omit<Failure, 'at'>): void {
    const upstream = upstreams.get(name);
    if (upstream !== undefined) upstream.lastFailure = { at: time(), ...failure };
  }

  const events: Events = {
    listening(listening) {
      ({ url } = listening);
    },
    draining() {
      isDraining = true;
    },
    requestEnded: ({ ms, status = 0, outcome }) => requests.add(ms, status >= 500 || outcome === 'internal'),
    readEnded({ cache }) {
      if (cache === undefined || cache === 'bypass') return;
      (cache === 'hit' ? hits : cache === 'stale' ? stale : misses).add(0, false);
    },
    snapshotsHeld({ entries, bytes }) {
      held = { entries, bytes };
    },
    upstreamOpened({ upstream: name, opening }) {
      const upstream = upstreams.get(name) ?? createUpstream();
      upstream.breakers.set(opening, 'closed');
      upstreams.set(name, upstream);
    },
    upstreamClosed({ upstream, opening }) {
      const breakers = upstreams.get(upstream)?.breakers;
      breakers?.delete(opening);
      if (breakers?.size === 0) upstreams.delete(upstream);
    },
    breakerChanged({ upstream, opening, state }) {
      const breakers = upstreams.get(upstream)?.breakers;
      if (breakers?.has(opening)) breakers.set(opening, state);
    },
    pageFetched({ upstream, ms, error, reason = null, causes = [] }) {
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      upstreams.get(upstream)?.calls.add(ms, isFailure);
      if (isFailure) fail(upstream, { code: error, reason, causes });
    },
    // Each page was valid by itself.
    loadEnded({ upstream, error, reason = null }) {
      if (error === 'upstream_invalid') fail(upstream, { code: error, reason, causes: [] });
    },
    callRefused({ upstream, shared }) {
      upstreams.get(upstream)?.refused.add(0, true);
      if (shared) spared.add(0, true);
    },
    listLoaded({ resource, items, received, dropped }) {
      const warnings: MappingWarning[] = dropped > 0 ? [{ finding: 'items_dropped', dropped, received }] : [];
      loads.set(resource, { at: time(), items, warnings });
    },
    mappingWarning({ resource, finding, field = '' }) {
      loads.get(resource)?.warnings.push(finding === 'field_empty' ? { finding, field } : { finding });
    },
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
    return [...names].flatMap((name) => {
      const { breakers, calls, refused, lastFailure } = upstreams.get(name) ?? createUpstream();
      const breaker = [...breakers.values()].at(-1);
      if (breaker === undefined) return [];
      const about = { refused: refused.total().requests, lastFailure };
      return [{ name, breaker, total: calls.total(), history: calls.slots(), ...about }];
    });
  }

  function resourceStatus(): ResourceStatus[] {
    const offered = resources.map((resource) => ({ resource, settings: resourceConfig(config, resource) }));
    return offered
      .filter(({ settings }) => settings.enabled)
      .map(({ resource, settings: { upstream } }) => {
        const { name } = resource;
        const { at: loadedAt = null, items = null, warnings = [] } = loads.get(name) ?? {};
        return { name, uri: define(resource, config.scheme).uri, upstream, loadedAt, items, warnings };
      });
  }

  function snapshotStatus(): Status['snapshots'] {
    const served = { hits: hits.total().requests, stale: stale.total().requests, misses: misses.total().requests };
    const reads = served.hits + served.stale + served.misses;
    const hitRatio = reads === 0 ? null : (served.hits + served.stale) / reads;
    return { ...held, maxBytes: config.cache.maxBytes, ...served, hitRatio };
  }

  function status(): Status {
    const heap = getHeapStatistics();
    return {
      version: readVersion(),
      startedAt,
      at: time(),
      state: isDraining ? 'draining' : 'serving',
      url: config.publicUrl ?? url,
      processId: process.pid,
      requests: requests.total(),
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
      settings: effectiveSettings(config, isFromEnvironment),
    };
  }

  return {
    listeners: [events, changeEvents],
    status,
    onReload(changed: Config) {
      config = changed;
      const offered = new Set(resourceStatus().map(({ name }) => name));
      for (const name of loads.keys()) if (!offered.has(name)) loads.delete(name);
    },
  };
}
