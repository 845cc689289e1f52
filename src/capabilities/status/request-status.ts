import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events, MappingFinding } from '../../core/kernel/events.ts';
import { define } from '../../core/resources/resource.ts';
import type { CapabilityContext } from '../capability.ts';

export type MappingWarning =
  | MappingFinding
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

export interface Failure {
  readonly at: string;
  /** Code of the error table. */
  readonly code: string;
  readonly reason: string | null;
  /** Names and codes of the errors behind it. */
  readonly causes: readonly string[];
}

export type ResourceStatus = ReturnType<ReturnType<typeof createRequestStatus>['resources']>[number];

/** Codes of errors that are not the caller's. */
const OWN_FAILURES: ReadonlySet<string | undefined> = new Set(
  Object.entries(ERRORS).flatMap(([code, { status }]) => (code.startsWith('upstream_') || status >= 500 ? [code] : [])),
);

/** Counts requests and the reads of each resource, and keeps the last load of each. `time` returns now, in ISO 8601. */
export function createRequestStatus({ now, resources }: CapabilityContext, time: () => string) {
  const requests = createHistory(now);
  const lists = new Map<string, List>();
  let held = { entries: 0, bytes: 0 };

  function listOf(resource: string): List {
    const list = lists.get(resource) ?? createList(now);
    lists.set(resource, list);
    return list;
  }

  function fail(list: List, code: string, reason: string | null): void {
    const { lastFailure: last } = list;
    const isKnown = reason === null && last?.code === code;
    list.lastFailure = isKnown && last ? { ...last, at: time() } : { at: time(), code, reason, causes: [] };
  }

  const events: Events = {
    requestEnded({ ms, openedMs = ms, status = 0, outcome, error }) {
      const hasFailed = status >= 500 || OWN_FAILURES.has(outcome) || OWN_FAILURES.has(error?.code);
      requests.add(openedMs, hasFailed);
    },
    readEnded({ resource, cache, error, staleFor }) {
      const list = listOf(resource);
      const hasFailed = OWN_FAILURES.has(error);
      list.counts.add(cache ?? (hasFailed ? 'failed' : 'rejected'));
      if (error !== undefined && hasFailed) fail(list, error, null);
      if (staleFor === undefined) return;
      list.counts.add('staleOnError');
      list.staleSince ??= time();
    },
    loadEnded({ resource, error, reason = null }) {
      const list = listOf(resource);
      if (error === undefined) list.staleSince = null;
      else if (OWN_FAILURES.has(error)) fail(list, error, reason);
    },
    listLoaded({ resource, items, received, dropped }) {
      const warnings: MappingWarning[] = dropped > 0 ? [{ finding: 'items_dropped', dropped, received }] : [];
      listOf(resource).load = { at: now(), items, warnings };
    },
    mappingWarning({ resource, finding, field }) {
      // The list is right, and complete.
      if (finding === 'hidden_text') return;
      listOf(resource).load?.warnings.push({ finding, ...(field !== undefined && { field }) });
    },
    snapshotsHeld({ entries, bytes }) {
      held = { entries, bytes };
    },
  };

  /** Returns the share of the cacheable reads that memory served; `null` without such reads. */
  function hitRatio(): number | null {
    const all = addUp([...lists.values()].map(({ counts }) => counts.total()));
    const { hit = 0, stale = 0, shared = 0, miss = 0, refreshed = 0, collapsed = 0 } = all;
    const reads = hit + stale + shared + miss + refreshed + collapsed;
    return reads === 0 ? null : (hit + stale) / reads;
  }

  return {
    events,
    requests: () => ({ requests: requests.total(), lastMinute: requests.lastMinute() }),
    snapshots: ({ cache: { maxBytes } }: Config) => ({ ...held, maxBytes, hitRatio: hitRatio() }),
    resources(config: Config) {
      return offeredIn(config, resources).map(({ resource, settings: { upstream } }) => {
        const { name } = resource;
        return { name, uri: define(resource, config.scheme).uri, upstream, ...statusOf(listOf(name)) };
      });
    },
  };
}

type List = ReturnType<typeof createList>;

function createList(now: () => number) {
  return {
    /** By cache result, or `failed` or `rejected`; and those that are `staleOnError`. */
    counts: createCounts(now),
    load: null as { at: number; items: number; warnings: MappingWarning[] } | null,
    staleSince: null as string | null,
    lastFailure: null as Failure | null,
  };
}

function statusOf({ counts, load, staleSince, lastFailure }: List) {
  const reads = readsOf(counts.total());
  return {
    /** `null` before the first load. */
    loadedAt: load === null ? null : new Date(load.at).toISOString(),
    items: load?.items ?? null,
    warnings: load?.warnings ?? [],
    ...{ reads, lastMinute: readsOf(counts.lastMinute()), lastFailure },
    /** Since when reads are served stale because of an error; `null` where none is. */
    staleSince: reads.staleOnError > 0 ? staleSince : null,
  };
}

/** `failed`: not because of the caller. `staleOnError`: those of the stale ones that an error caused. */
function readsOf({ staleOnError = 0, ...results }: Counts) {
  const { failed = 0, stale = 0 } = results;
  return { reads: sumOf(results), failed, stale, staleOnError };
}

/** Length and number of the slots: ten minutes. */
export const SLOT_MS = 10_000;
export const SLOTS = 60;
/** Slots of the last minute, of which the newest is not over. */
const MINUTE_SLOTS = 6;
/** Durations are kept in buckets, four for each factor of two: up to 0.1 ms, 0.12 ms … 26 s. Longer ones are in the last bucket. */
const FIRST_MS = 0.1;
const PER_DOUBLING = 4;
const LAST_BUCKET = 18 * PER_DOUBLING;

/** Counts by their names; those of 0 are absent. */
type Counts = { readonly [name: string]: number | undefined };

/** Counts what happened in the last ten minutes, by names of a closed list. `now`: milliseconds since the epoch. */
export function createCounts(now: () => number) {
  const ring: { readonly number: number; readonly counts: Record<string, number> }[] = [];
  const current = () => Math.floor(now() / SLOT_MS);

  function slots(length = SLOTS): Counts[] {
    const first = current() - length + 1;
    return Array.from({ length }, (_, index) => {
      const slot = ring[(first + index) % SLOTS];
      return slot?.number === first + index ? slot.counts : {};
    });
  }

  return {
    add(name: string | number): void {
      const number = current();
      let slot = ring[number % SLOTS];
      if (slot?.number !== number) {
        slot = { number, counts: {} };
        ring[number % SLOTS] = slot;
      }
      slot.counts[name] = (slot.counts[name] ?? 0) + 1;
    },
    total: () => addUp(slots()),
    lastMinute: () => addUp(slots(MINUTE_SLOTS)),
  };
}

function addUp(all: readonly Counts[]): Counts {
  const totals: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count = 0] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
  }
  return totals;
}

/** Keeps the last ten minutes of what takes time and can fail. */
export function createHistory(now: () => number) {
  const { add, total, lastMinute } = createCounts(now);
  return {
    add(ms: number, isFailure = false): void {
      add(Math.min(Math.max(0, Math.ceil(PER_DOUBLING * Math.log2(ms / FIRST_MS))), LAST_BUCKET));
      if (isFailure) add('failures');
    },
    total: () => periodOf(total()),
    lastMinute: () => periodOf(lastMinute()),
  };
}

/** p50 and p95 are exact to a fifth. 0 without requests. */
function periodOf({ failures = 0, ...durations }: Counts) {
  const requests = sumOf(durations);
  return {
    requests,
    failures,
    medianMs: boundOf(durations, requests * 0.5),
    p95Ms: boundOf(durations, requests * 0.95),
  };
}

export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0);
}

/** Returns the upper bound of the bucket that has the duration of this rank. The buckets are in order: their names are numbers. */
function boundOf(durations: Counts, rank: number): number {
  let below = 0;
  for (const [bucket, count = 0] of Object.entries(durations)) {
    below += count;
    if (below >= rank) return Number((FIRST_MS * 2 ** (Number(bucket) / PER_DOUBLING)).toPrecision(3));
  }
  return 0;
}
