import type { Workers } from '../capability.ts';
import type { Period } from './history.ts';
import { MAX_CHANGES } from './recent-changes.ts';
import { troubleOf, verdictOf } from './status-verdict.ts';
import type { ProcessStatus, Status, Trouble } from './status-view.ts';

/** How much a state of a breaker matters. */
const BREAKER_STATES = ['closed', 'half-open', 'open'];

/** Returns the status of all workers as one: sums, the slowest worker's durations, the worst states, the latest loads and failures. */
export async function combinedStatus({ ask, count, droppedLogLines }: Workers): Promise<Status | undefined> {
  const answers = await ask({ method: 'GET', path: '/status' });
  const all: Status[] = answers.flatMap(({ body }) => (body === undefined ? [] : JSON.parse(body.toString('utf8'))));
  const [first] = all;
  if (first === undefined) return undefined;
  const combined = combineAll(all, first);
  const { droppedLines } = combined.process;
  const missing = { alert: 'PorticoWorkersEnding', level: 'amber', subject: 'workers' } as const;
  const own = all.length < count ? [troubleOf({ ...missing, what: `${all.length} of ${count} answer` }, first.at)] : [];
  return {
    ...combined,
    verdict: verdictOf([...combined.verdict.troubles, ...own]),
    process: { ...combined.process, droppedLines: { ...droppedLines, log: droppedLines.log + droppedLogLines() } },
    processId: process.pid,
  };
}

function combineAll(all: readonly Status[], first: Status): Status {
  const snapshots = sums(all.map(({ snapshots: { hitRatio: _, lastMinute: __, ...counts } }) => counts));
  const { hits, stale, misses } = snapshots;
  const reads = hits + stale + misses;
  const shared = all.flatMap((one) => one.shared ?? []);
  return {
    ...first,
    verdict: verdictOf(all.flatMap(({ verdict }) => verdict.troubles).sort(bySince)),
    startedAt: all.map(({ startedAt }) => startedAt).sort()[0] ?? first.startedAt,
    requests: combinePeriods(all.map(({ requests }) => requests)),
    lastMinute: combinePeriods(all.map(({ lastMinute }) => lastMinute)),
    process: combineProcesses(all.map((one) => one.process)),
    memory: sums(all.map(({ memory }) => memory)),
    snapshots: {
      ...{ ...snapshots, hitRatio: reads === 0 ? null : (hits + stale) / reads },
      lastMinute: sums(all.map((one) => one.snapshots.lastMinute)),
    },
    shared: first.shared && {
      isUp: shared.every(({ isUp }) => isUp),
      commands: combinePeriods(shared.map(({ commands }) => commands)),
      spared: total(shared.map(({ spared }) => spared)),
    },
    upstreams: first.upstreams.map((upstream) => combineUpstream(same(all, 'upstreams', upstream), upstream)),
    resources: first.resources.map((resource) => combineResource(same(all, 'resources', resource), resource)),
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
    opened: earliest(all.flatMap(({ opened }) => opened ?? [])),
    lastMinute: combinePeriods(all.map(({ lastMinute }) => lastMinute)),
    refusedBy: sums(all.map(({ refusedBy }) => refusedBy)),
    queue: sums(all.map(({ queue }) => queue)),
    total: combinePeriods(all.map((one) => one.total)),
    history: first.history.map((_, slot) => combinePeriods(all.flatMap(({ history }) => history[slot] ?? []))),
    refused: total(all.map(({ refused }) => refused)),
    lastFailure: lastOf(all),
  };
}

type ResourceStatus = Status['resources'][number];

function combineResource(all: readonly ResourceStatus[], first: ResourceStatus): ResourceStatus {
  return {
    ...(latest(all, ({ loadedAt }) => loadedAt) ?? first),
    reads: sums(all.map(({ reads }) => reads)),
    lastMinute: sums(all.map(({ lastMinute }) => lastMinute)),
    staleSince: earliest(all.map(({ staleSince: since }) => ({ since })))?.since ?? null,
    lastFailure: lastOf(all),
  };
}

/** Descriptors are those of the process that has the fewest left. */
function combineProcesses(all: readonly ProcessStatus[]): ProcessStatus {
  const slowest = (of: (one: ProcessStatus) => number) => Math.max(0, ...all.map(of));
  const used = ({ descriptors: { open = 0, max = Number.POSITIVE_INFINITY } }: ProcessStatus) => open / max;
  const [fullest] = all.toSorted((one, other) => used(other) - used(one));
  const connections = Map.groupBy(
    all.flatMap((one) => one.connections),
    ({ listener }) => listener,
  );
  return {
    descriptors: fullest?.descriptors ?? {},
    connections: [...connections].map(([listener, each]) => ({
      ...{ listener, ...sums(each.map(({ open, max }) => ({ open, max }))) },
    })),
    eventLoopMs: {
      lastMinute: slowest(({ eventLoopMs }) => eventLoopMs.lastMinute),
      tenMinutes: slowest(({ eventLoopMs }) => eventLoopMs.tenMinutes),
    },
    certificates: [
      ...Map.groupBy(
        all.flatMap(({ certificates }) => certificates),
        ({ name }) => name,
      ).values(),
    ].flatMap((same) => same.toSorted((one, other) => one.to.localeCompare(other.to)).slice(0, 1)),
    droppedLines: {
      ...sums(all.map(({ droppedLines: { log, audit } }) => ({ log, audit }))),
      droppedAt: latest(all, ({ droppedLines }) => droppedLines.droppedAt)?.droppedLines.droppedAt ?? null,
    },
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

function lastOf(all: readonly Pick<UpstreamStatus, 'lastFailure'>[]): UpstreamStatus['lastFailure'] {
  return latest(all, ({ lastFailure }) => lastFailure?.at ?? null)?.lastFailure ?? null;
}

function earliest<Entry extends Pick<Trouble, 'since'>>(entries: readonly Entry[]): Entry | null {
  return entries.toSorted(bySince)[0] ?? null;
}

/** Sorts the earliest first, and what has no beginning last. */
function bySince({ since: one }: Pick<Trouble, 'since'>, { since: other }: Pick<Trouble, 'since'>): number {
  return (one ?? '9').localeCompare(other ?? '9');
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Adds up each member. */
function sums<Key extends string>(all: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const keys = Object.keys(all[0] ?? {}) as Key[];
  return Object.fromEntries(keys.map((key) => [key, total(all.map((one) => one[key]))])) as Record<Key, number>;
}
