import type { Workers } from '../capability.ts';
import type { Status } from './gateway-status.ts';
import { MAX_CHANGES } from './recent-changes.ts';
import type { ResourceStatus } from './request-status.ts';
import type { ProcessStatus } from './status-sources.ts';
import { amber, type Trouble, troubleOf, verdictOf } from './status-verdict.ts';

/** Returns the status of all workers as one: sums, the slowest worker's durations, the worst states, the latest loads and failures. */
export async function combinedStatus({ ask, count, droppedLogLines }: Workers): Promise<Status | undefined> {
  const answers = await ask({ method: 'GET', path: '/status' });
  const all: Status[] = answers.flatMap(({ body }) => (body === undefined ? [] : JSON.parse(body.toString('utf8'))));
  const [first] = all;
  if (first === undefined) return undefined;
  const missing = amber('PorticoWorkersEnding', 'workers', `${all.length} of ${count} answer`);
  const own = all.length < count ? [troubleOf(missing, first.at)] : [];
  const combined = combineMembers(all);
  const { snapshots, process: processes } = combined;
  const served = snapshots.hits + snapshots.stale;
  const reads = served + snapshots.misses;
  const log = processes.droppedLines.log + droppedLogLines();
  return {
    ...combined,
    verdict: verdictOf([...all.flatMap(({ verdict }) => verdict.troubles).sort(bySince), ...own]),
    process: { ...processes, droppedLines: { ...processes.droppedLines, log } },
    snapshots: { ...snapshots, hitRatio: reads === 0 ? null : served / reads },
    processId: process.pid,
  };
}

const BREAKER_STATES = ['closed', 'half-open', 'open'];

// biome-ignore lint/suspicious/noExplicitAny: a status that was JSON
type Combine = (values: readonly any[]) => unknown;

const total: Combine = (values) => values.reduce((sum, value) => sum + value, 0);
const most: Combine = (values) => Math.max(0, ...values);
const earliest: Combine = (times) => times.filter((time) => time !== null).sort()[0] ?? null;
const latest: Combine = (times) =>
  times
    .filter((time) => time !== null)
    .sort()
    .at(-1) ?? null;

/** How members are combined, by their names. Other numbers are added up, lists are combined by names, and texts are the first worker's. */
const RULES: Readonly<Record<string, Combine>> = {
  ...{ medianMs: most, p95Ms: most, eventLoopMs: (all) => combineMembers(all, most) },
  refusedBy: (all) => combineMembers(all, total),
  ...{ startedAt: earliest, to: earliest, staleSince: earliest, droppedAt: latest },
  breaker: (states) => BREAKER_STATES[Math.max(...states.map((state) => BREAKER_STATES.indexOf(state)))],
  opened: (all) => all.filter((one) => one !== null).sort(bySince)[0] ?? null,
  lastFailure: (all) => all.toSorted(latestFirst('at'))[0],
  isUp: (all) => all.every((isUp) => isUp),
  history: ([first, ...others]) =>
    first.map((period: unknown, slot: number) => combineMembers([period, ...others.map((other) => other[slot])])),
  changes: (all) => all.flat().sort(latestFirst('at')).slice(0, MAX_CHANGES),
  // Of the worker with the largest share in use.
  descriptors: (all: readonly ProcessStatus['descriptors'][]) =>
    all.toSorted((one, other) => usedOf(other) - usedOf(one))[0],
  resources: (all) => combineNamed(all.flat(), latestLoadOf),
};

function combine(values: readonly unknown[], key: string): unknown {
  const rule = RULES[key];
  const [first] = values;
  if (rule !== undefined) return rule(values);
  if (typeof first === 'number') return total(values);
  if (Array.isArray(first)) return combineNamed(values.flat() as object[]);
  return Object(first) === first ? combineMembers(values.filter((value) => value !== null) as object[]) : first;
}

function combineMembers<Whole extends object>(all: readonly Whole[], rule: Combine | undefined = undefined): Whole {
  const keys = Object.keys(all[0] ?? {}) as (keyof Whole & string)[];
  const combined = keys.map((key) => {
    const values = all.map((one) => one[key]);
    return [key, rule?.(values) ?? combine(values, key)];
  });
  return Object.fromEntries(combined);
}

function combineNamed<Entry extends object>(entries: readonly Entry[], of = (_same: readonly Entry[]): object => ({})) {
  const nameOf = (entry: { name?: string; listener?: string }) => entry.name ?? entry.listener;
  return [...Map.groupBy(entries, nameOf).values()].map((same) => ({ ...combineMembers(same), ...of(same) }));
}

function latestLoadOf(same: readonly ResourceStatus[]) {
  const [{ loadedAt, items, warnings } = {}] = same.toSorted(latestFirst('loadedAt'));
  return { loadedAt, items, warnings };
}

function usedOf({ open = 0, max = Number.POSITIVE_INFINITY }: ProcessStatus['descriptors']): number {
  return open / max;
}

function latestFirst<Key extends string>(key: Key) {
  type Timed = { readonly [Each in Key]: string | null } | null;
  return (one: Timed, other: Timed) => (other?.[key] ?? '').localeCompare(one?.[key] ?? '');
}

function bySince({ since: one }: Pick<Trouble, 'since'>, { since: other }: Pick<Trouble, 'since'>): number {
  return (one ?? '9').localeCompare(other ?? '9');
}
