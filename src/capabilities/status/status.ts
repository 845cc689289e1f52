import { getHeapStatistics } from 'node:v8';
import type { Events } from '../../core/kernel/events.ts';
import { changeEvents } from './change-events.ts';
import { createHistory, type History } from './history.ts';
import { createRecentChanges } from './recent-changes.ts';
import { createServers } from './servers.ts';
import type { Doubt, Failure, Now, Status } from './view.ts';

/** Keeps what a person on call asks first. Bounded by the names in settings. */
export interface StatusKeeper {
  readonly listeners: readonly Events[];
  view(now: Now): Status;
}

/** No fault of an upstream: it has judged a caller. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

interface Why {
  readonly reason?: string | undefined;
  readonly causes?: readonly string[] | undefined;
}

interface LastLoad {
  readonly at: string;
  readonly items: number;
  readonly doubts: Doubt[];
}

/** `now`: milliseconds since the epoch. */
export function createStatusKeeper(now: () => number): StatusKeeper {
  const startedAt = iso(now());
  const requests = createHistory(now);
  const served = { hit: createHistory(now), stale: createHistory(now), miss: createHistory(now) };
  const commands = createHistory(now);
  const spared = createHistory(now);
  const calls = new Map<string, History>();
  const refusals = new Map<string, History>();
  const loads = new Map<string, LastLoad>();
  const failures = new Map<string, Failure>();
  const servers = createServers();
  const changes = createRecentChanges(() => iso(now()));

  const of = (histories: Map<string, History>, name: string): History => {
    const history = histories.get(name) ?? createHistory(now);
    histories.set(name, history);
    return history;
  };

  const failed = (upstream: string, code: string, { reason, causes = [] }: Why) =>
    failures.set(upstream, { at: iso(now()), code, reason: reason ?? null, causes });

  const counting: Events = {
    requestEnded: ({ ms, status = 0, outcome }) => requests.add(ms, status >= 500 || outcome === 'internal'),
    readEnded({ cache }) {
      if (cache !== undefined && cache !== 'bypass')
        served[cache === 'hit' || cache === 'stale' ? cache : 'miss'].add(0, false);
    },
    pageFetched({ upstream, ms, error, reason, causes }) {
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      of(calls, upstream).add(ms, isFailure);
      if (isFailure) failed(upstream, error, { reason, causes });
    },
    // Pages that were good, each by itself.
    loadEnded({ upstream, error, reason }) {
      if (error === 'upstream_invalid') failed(upstream, error, { reason });
    },
    upstreamOpened: servers.opened,
    upstreamClosed: servers.closed,
    callRefused({ upstream, shared }) {
      of(refusals, upstream).add(0, true);
      if (shared) spared.add(0, true);
    },
    listLoaded({ resource, items, received, dropped }) {
      const doubts: Doubt[] = dropped > 0 ? [{ finding: 'items_dropped', dropped, received }] : [];
      loads.set(resource, { at: iso(now()), items, doubts });
    },
    mappingDoubted({ resource, finding, field = '' }) {
      loads.get(resource)?.doubts.push(finding === 'field_empty' ? { finding, field } : { finding });
    },
    breakerChanged: servers.breakerChanged,
    sharedStoreAsked: ({ ms, outcome }) => commands.add(ms, outcome === 'timeout' || outcome === 'failed'),
  };

  return {
    listeners: [counting, changeEvents(changes)],
    view(current) {
      const upstreams = [...current.upstreams, ...servers.beside(current.upstreams)];
      for (const kept of [calls, refusals, failures]) keepOnly(kept, upstreams);
      keepOnly(loads, current.resources);
      const [hits, stale, misses] = [served.hit, served.stale, served.miss].map((one) => one.total().requests) as [
        number,
        number,
        number,
      ];
      const asked = hits + stale + misses;
      return {
        version: current.version,
        startedAt,
        at: iso(now()),
        state: current.isDraining ? 'draining' : 'serving',
        url: current.url,
        processId: process.pid,
        requests: requests.total(),
        memory: {
          residentBytes: process.memoryUsage.rss(),
          heapBytes: getHeapStatistics().used_heap_size,
          heapLimitBytes: getHeapStatistics().heap_size_limit,
        },
        snapshots: { ...current.snapshots, hits, stale, misses, hitRatio: asked === 0 ? null : (hits + stale) / asked },
        shared:
          current.shared === undefined
            ? null
            : { ...current.shared, commands: commands.total(), spared: spared.total().requests },
        upstreams: upstreams.map((upstream) => {
          const { name } = upstream;
          const history = of(calls, name);
          const refused = refusals.get(name)?.total().requests ?? 0;
          const lastFailure = failures.get(name) ?? null;
          return { ...upstream, total: history.total(), history: history.slots(), refused, lastFailure };
        }),
        resources: current.resources.map((resource) => {
          const load = loads.get(resource.name);
          return { ...resource, loadedAt: load?.at ?? null, items: load?.items ?? null, doubts: load?.doubts ?? [] };
        }),
        changes: changes.list(),
        settingsFile: current.settingsFile,
        settings: current.settings,
      };
    },
  };
}

function keepOnly(kept: Map<string, unknown>, named: readonly { readonly name: string }[]): void {
  const names = new Set(named.map(({ name }) => name));
  for (const name of kept.keys()) if (!names.has(name)) kept.delete(name);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
