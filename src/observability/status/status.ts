import { getHeapStatistics } from 'node:v8';
import type { Events } from '../events.ts';
import { createHistory, type History, type Period } from './history.ts';

/** What only the gateway knows, as it is now. */
export interface Now {
  readonly version: string;
  readonly isDraining: boolean;
  /** Base URL of the public listener. */
  readonly url: string;
  readonly upstreams: readonly { readonly name: string; readonly breaker: string }[];
  readonly resources: readonly { readonly name: string; readonly uri: string; readonly upstream: string }[];
  readonly snapshots: { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
  /** Effective settings as YAML, with their secrets masked. */
  readonly settings: string;
}

/** What was found about the mapping of a resource when it was loaded last. */
export type Doubt =
  | { readonly finding: 'where_drops_all' }
  | { readonly finding: 'field_empty'; readonly field: string }
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

/** Something that changed, told in a few words of ours. */
export interface Change {
  /** ISO 8601. */
  readonly at: string;
  /** Name of an event of the seam. */
  readonly event: string;
  /** Whether somebody should look. */
  readonly isTrouble: boolean;
  readonly text: string;
  /** How often it was told: in a row, or, of what requests bring about, as long as it stands here. */
  readonly times: number;
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
  readonly upstreams: readonly (Now['upstreams'][number] & {
    readonly total: Period;
    readonly history: readonly Period[];
    /** Calls that were not made: the breaker is open, the queue is full, the credential was refused a moment ago. */
    readonly refused: number;
  })[];
  readonly resources: readonly (Now['resources'][number] & {
    readonly loadedAt: string | null;
    readonly items: number | null;
    readonly doubts: readonly Doubt[];
  })[];
  /** The newest first. */
  readonly changes: readonly Change[];
  readonly settings: string;
}

/** Keeps what a person on call asks first. Bounded by the names in settings. */
export interface StatusKeeper {
  readonly events: Events;
  view(now: Now): Status;
}

const CHANGES = 50;
/** No fault of an upstream: it has judged a caller. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

const REPEATED: ReadonlySet<keyof Events> = new Set<keyof Events>([
  'boundReached',
  'mappingDoubted',
  'unaskedResponse',
]);

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
  const calls = new Map<string, History>();
  const refusals = new Map<string, History>();
  const loads = new Map<string, LastLoad>();
  const changes: Change[] = [];

  const of = (histories: Map<string, History>, name: string): History => {
    const history = histories.get(name) ?? createHistory(now);
    histories.set(name, history);
    return history;
  };

  function note(event: keyof Events, text: string, isTrouble: boolean): void {
    const at = iso(now());
    // What callers can have happen again and again pushes nothing else out; of the rest the order tells something.
    const again = REPEATED.has(event) ? changes.length : 1;
    const index = changes.slice(0, again).findIndex((one) => one.event === event && one.text === text);
    const [before] = index === -1 ? [] : changes.splice(index, 1);
    changes.unshift({ at, event, isTrouble, text, times: (before?.times ?? 0) + 1 });
    changes.length = Math.min(changes.length, CHANGES);
  }

  const events: Events = {
    requestEnded: ({ begun, status = 0, outcome }) =>
      requests.add(performance.now() - begun, status >= 500 || outcome === 'internal'),
    readEnded({ cache }) {
      if (cache !== undefined && cache !== 'bypass')
        served[cache === 'hit' || cache === 'stale' ? cache : 'miss'].add(0, false);
    },
    pageFetched: ({ upstream, ms, error }) =>
      of(calls, upstream).add(ms, error !== undefined && !JUDGEMENTS.includes(error)),
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
    breakerChanged: ({ upstream, state, failures, calls: counted }) =>
      note(
        'breakerChanged',
        `${upstream}: breaker ${state} (${failures} of ${counted} calls failed)`,
        state === 'open',
      ),
    settingsChanged: ({ applied, needRestart }) =>
      note('settingsChanged', describeChange(applied, needRestart), needRestart.length > 0),
    secretChanged: ({ upstream, issue }) =>
      note(
        'secretChanged',
        `${upstream}: ${issue === undefined ? 'another secret was taken from its file' : `the file of its secret ${issue}`}`,
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
      ),
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
      keepOnly(calls, current.upstreams);
      keepOnly(refusals, current.upstreams);
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
        upstreams: current.upstreams.map((upstream) => {
          const history = of(calls, upstream.name);
          const refused = refusals.get(upstream.name)?.total().requests ?? 0;
          return { ...upstream, total: history.total(), history: history.slots(), refused };
        }),
        resources: current.resources.map((resource) => {
          const load = loads.get(resource.name);
          return { ...resource, loadedAt: load?.at ?? null, items: load?.items ?? null, doubts: load?.doubts ?? [] };
        }),
        changes: [...changes],
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
