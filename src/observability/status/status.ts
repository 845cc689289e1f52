import { getHeapStatistics } from 'node:v8';
import type { Events } from '../events.ts';
import { createHistory, type History, type Period } from './history.ts';
import { type Change, createRecentChanges } from './recent-changes.ts';
import { createServers, type NamedUpstream } from './servers.ts';

/** What only the gateway knows, as it is now. */
export interface Now {
  readonly version: string;
  readonly isDraining: boolean;
  /** Base URL of the public listener. */
  readonly url: string;
  readonly upstreams: readonly NamedUpstream[];
  readonly resources: readonly { readonly name: string; readonly uri: string; readonly upstream: string }[];
  readonly snapshots: { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
  /** The store that replicas share; `undefined`: they share nothing. */
  readonly shared?: { readonly isUp: boolean } | undefined;
  /** The file that the settings are from, and are read from again; `null`: they are from none. */
  readonly settingsFile: string | null;
  /** Effective settings as YAML, with their secrets masked. */
  readonly settings: string;
}

/** What was found about the mapping of a resource when it was loaded last. */
export type Doubt =
  | { readonly finding: 'where_drops_all' }
  | { readonly finding: 'field_empty'; readonly field: string }
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

/** Why an upstream was of no use when it was so last, in words of ours and codes of the system's. */
export interface Failure {
  /** ISO 8601. */
  readonly at: string;
  /** Of the table. */
  readonly code: string;
  readonly reason: string | null;
  readonly causes: readonly string[];
}

/** How it goes, as of now. Rates and ratios are those of the last ten minutes. */
export interface Status {
  readonly version: string;
  readonly startedAt: string;
  readonly at: string;
  readonly state: 'serving' | 'draining';
  readonly url: string;
  readonly processId: number;
  readonly requests: Period;
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number; readonly heapLimitBytes: number };
  readonly snapshots: Now['snapshots'] & {
    readonly hits: number;
    readonly stale: number;
    readonly misses: number;
    /** Of reads that may be served from what is held; `null` where there were none. */
    readonly hitRatio: number | null;
  };
  /** The store that replicas share, and what it was asked; `null`: they share nothing. */
  readonly shared: { readonly isUp: boolean; readonly commands: Period } | null;
  readonly upstreams: readonly (Now['upstreams'][number] & {
    readonly total: Period;
    readonly history: readonly Period[];
    /** Calls that were not made: the breaker is open, the queue is full, the credential was refused a moment ago. */
    readonly refused: number;
    /** `null`: none since the start. A caller who was judged is none. */
    readonly lastFailure: Failure | null;
  })[];
  readonly resources: readonly (Now['resources'][number] & {
    readonly loadedAt: string | null;
    readonly items: number | null;
    readonly doubts: readonly Doubt[];
  })[];
  /** The newest first. */
  readonly changes: readonly Change[];
  readonly settingsFile: Now['settingsFile'];
  readonly settings: string;
}

/** Keeps what a person on call asks first. Bounded by the names in settings. */
export interface StatusKeeper {
  readonly events: Events;
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

  const note = (event: keyof Events, text: string, isTrouble: boolean, about?: string) =>
    changes.note({ event, text, isTrouble, ...(about !== undefined && { about }) });

  const failed = (upstream: string, code: string, { reason, causes = [] }: Why) =>
    failures.set(upstream, { at: iso(now()), code, reason: reason ?? null, causes });

  const events: Events = {
    requestEnded: ({ begun, status = 0, outcome }) =>
      requests.add(performance.now() - begun, status >= 500 || outcome === 'internal'),
    readEnded({ cache }) {
      if (cache !== undefined && cache !== 'bypass')
        served[cache === 'hit' || cache === 'stale' ? cache : 'miss'].add(0, false);
    },
    pageFetched({ upstream, ms, error, ...why }) {
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      of(calls, upstream).add(ms, isFailure);
      if (isFailure) failed(upstream, error, why);
    },
    // Pages that were good, each by itself.
    loadEnded({ upstream, error, reason }) {
      if (error === 'upstream_invalid') failed(upstream, error, { reason });
    },
    upstreamOpened: servers.opened,
    upstreamClosed: servers.closed,
    callRefused: ({ upstream }) => of(refusals, upstream).add(0, true),
    listLoaded({ resource, items, received, dropped }) {
      const doubts: Doubt[] = dropped > 0 ? [{ finding: 'items_dropped', dropped, received }] : [];
      loads.set(resource, { at: iso(now()), items, doubts });
    },
    mappingDoubted({ resource, finding, field }) {
      const doubt =
        field === undefined ? { finding: 'where_drops_all' as const } : { finding: 'field_empty' as const, field };
      loads.get(resource)?.doubts.push(doubt);
      note(
        'mappingDoubted',
        `${resource}: ${field === undefined ? 'where drops every item' : `${field} is empty in every item`} (${finding})`,
        true,
      );
    },
    breakerChanged(changed) {
      const { upstream, state, failures, calls } = changed;
      servers.breakerChanged(changed);
      // One call that tries is no news: it opens again, or it closes.
      if (state === 'half-open') return;
      const counts = `${failures} of ${calls} calls failed`;
      note('breakerChanged', `${upstream}: breaker ${state} (${counts})`, state === 'open', upstream);
    },
    settingsChanged: ({ applied, needRestart }) =>
      note('settingsChanged', describeChange(applied, needRestart), needRestart.length > 0),
    secretChanged: ({ upstream, block = upstream, issue }) =>
      note(
        'secretChanged',
        `${block}: ${issue === undefined ? 'another secret was taken from its file' : `the file of its secret ${issue}`}`,
        issue !== undefined,
      ),
    tlsFilesChanged: ({ block, key, issue }) =>
      note(
        'tlsFilesChanged',
        `${block}: ${issue === undefined ? 'other certificates were taken from their files' : `${key} ${issue}`}`,
        issue !== undefined,
      ),
    issuerKeysFetched: ({ keys, error }) =>
      note(
        'issuerKeysFetched',
        error === undefined
          ? `${keys} keys of the issuer were fetched`
          : `keys of the issuer: ${error.reason ?? error.code}`,
        error !== undefined,
        'issuer',
      ),
    sharedStoreAsked: ({ ms, outcome }) => commands.add(ms, outcome === 'timeout' || outcome === 'failed'),
    sharedStoreChanged: ({ isUp, why }) =>
      note(
        'sharedStoreChanged',
        isUp ? 'the shared store is there' : `the shared store is away: ${why}`,
        !isUp,
        'shared store',
      ),
    sharedEvictionsHeard: ({ names }) => {
      if (names === undefined) note('sharedEvictionsHeard', 'evictions of other replicas may have been missed', true);
    },
    unaskedResponse: ({ upstream }) => note('unaskedResponse', `${upstream}: sent what it was not asked for`, true),
    boundReached: ({ bound, upstream }) =>
      note('boundReached', `${upstream === undefined ? '' : `${upstream}: `}${bound} is reached`, true),
    connectionsRefused: () =>
      note('connectionsRefused', 'connections were refused: http.maxConnections are open', true),
    listenerFailed: () => note('listenerFailed', 'a listener failed', true),
    internalError: ({ requestId }) => note('internalError', `a bug: the log has its stack under ${requestId}`, true),
    listening: () => note('listening', 'listening', false),
    draining: () => note('draining', 'draining', false),
  };

  return {
    events,
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
        shared: current.shared === undefined ? null : { ...current.shared, commands: commands.total() },
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

function describeChange(applied: readonly string[], needRestart: readonly string[]): string {
  const parts = [
    applied.length > 0 ? `settings changed: ${applied.join(', ')}` : 'settings unchanged',
    ...(needRestart.length > 0 ? [`need a restart: ${needRestart.join(', ')}`] : []),
  ];
  return parts.join('; ');
}

function keepOnly(kept: Map<string, unknown>, named: readonly { readonly name: string }[]): void {
  const names = new Set(named.map(({ name }) => name));
  for (const name of kept.keys()) if (!names.has(name)) kept.delete(name);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
