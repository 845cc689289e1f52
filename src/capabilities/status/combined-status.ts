import type { Workers } from '../capability.ts';
import type { Period } from './history.ts';
import { MAX_CHANGES } from './recent-changes.ts';
import type { Status } from './status-view.ts';

/** How much a state of a breaker matters. */
const BREAKER_STATES = ['closed', 'half-open', 'open'];

/** Returns the status of all workers as one: sums, the slowest worker's durations, the worst states, the latest loads and failures. */
export async function combinedStatus({ ask }: Workers): Promise<Status | undefined> {
  const answers = await ask({ method: 'GET', path: '/status' });
  const all: Status[] = answers.flatMap(({ body }) => (body === undefined ? [] : JSON.parse(body.toString('utf8'))));
  const [first] = all;
  return first && { ...combineAll(all, first), processId: process.pid };
}

function combineAll(all: readonly Status[], first: Status): Status {
  const snapshots = sums(all.map(({ snapshots: { hitRatio: _, ...counts } }) => counts));
  const { hits, stale, misses } = snapshots;
  const reads = hits + stale + misses;
  const shared = all.flatMap((one) => one.shared ?? []);
  return {
    ...first,
    startedAt: all.map(({ startedAt }) => startedAt).sort()[0] ?? first.startedAt,
    requests: combinePeriods(all.map(({ requests }) => requests)),
    memory: sums(all.map(({ memory }) => memory)),
    snapshots: { ...snapshots, hitRatio: reads === 0 ? null : (hits + stale) / reads },
    shared: first.shared && {
      isUp: shared.every(({ isUp }) => isUp),
      commands: combinePeriods(shared.map(({ commands }) => commands)),
      spared: total(shared.map(({ spared }) => spared)),
    },
    upstreams: first.upstreams.map((upstream) => combineUpstream(same(all, 'upstreams', upstream), upstream)),
    resources: first.resources.map(
      (resource) => latest(same(all, 'resources', resource), ({ loadedAt }) => loadedAt) ?? resource,
    ),
    changes: all
      .flatMap(({ changes }) => changes)
      .sort((one, other) => other.at.localeCompare(one.at))
      .slice(0, MAX_CHANGES),
  };
}

type UpstreamStatus = Status['upstreams'][number];

function combineUpstream(all: readonly UpstreamStatus[], first: UpstreamStatus): UpstreamStatus {
  const worst = Math.max(...all.map(({ breaker }) => BREAKER_STATES.indexOf(breaker)));
  return {
    ...first,
    breaker: BREAKER_STATES[worst] ?? first.breaker,
    total: combinePeriods(all.map((one) => one.total)),
    history: first.history.map((_, slot) => combinePeriods(all.flatMap(({ history }) => history[slot] ?? []))),
    refused: total(all.map(({ refused }) => refused)),
    lastFailure:
      latest(
        all.flatMap(({ lastFailure }) => lastFailure ?? []),
        ({ at }) => at,
      ) ?? null,
  };
}

function combinePeriods(all: readonly Period[]): Period {
  const { requests, failures } = sums(all.map(({ requests, failures }) => ({ requests, failures })));
  const slowest = (of: (period: Period) => number) => Math.max(0, ...all.map(of));
  return { requests, failures, medianMs: slowest(({ medianMs }) => medianMs), p95Ms: slowest(({ p95Ms }) => p95Ms) };
}

/** Returns the entries of all workers for the same name. */
function same<Key extends 'upstreams' | 'resources'>(
  all: readonly Status[],
  key: Key,
  { name }: { readonly name: string },
) {
  return all.flatMap((status) => status[key].filter((one) => one.name === name)) as Status[Key][number][];
}

function latest<Entry>(entries: readonly Entry[], timeOf: (entry: Entry) => string | null): Entry | undefined {
  return entries.toSorted((one, other) => (timeOf(other) ?? '').localeCompare(timeOf(one) ?? ''))[0];
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Adds up each member. */
function sums<Key extends string>(all: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const keys = Object.keys(all[0] ?? {}) as Key[];
  return Object.fromEntries(keys.map((key) => [key, total(all.map((one) => one[key]))])) as Record<Key, number>;
}
