import type { Caller } from '../../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Events } from '../../../../src/core/kernel/events.ts';
import { createSnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load, ReadOptions } from '../../../../src/core/reads/snapshots/load.ts';
import { NO_SNAPSHOT_STORE, type SnapshotStore, withCache } from '../../../../src/core/reads/snapshots/with-cache.ts';
import { eventually } from '../../../support/eventually.ts';
import { callerOf, createFakeLoader, never, type PendingLoad, roomy } from './fake-loader.ts';

export const RESOURCES = ['projects', 'workflows', 'tools'];
const LIFETIME = { ttlMs: 60_000, staleWhileRevalidateMs: 300_000, staleIfErrorMs: 3_600_000, minRefreshMs: 5000 };
export const SECOND = 1000;
export const MINUTE = 60_000;
export const failed = new GatewayError('upstream_failed', { upstreamStatus: 503, countsForBreaker: true });
export const alice = callerOf('alice');

interface ReplicaOptions {
  readonly now: () => number;
  readonly bounds?: { readonly maxBytes: number; readonly maxEntries: number };
  readonly lifetime?: typeof LIFETIME;
  readonly events?: Events;
  /** @default it shares nothing */
  readonly store?: SnapshotStore;
  readonly fingerprint?: string;
  /** Told of each load as it begins. */
  readonly onLoad?: (pendingLoad: PendingLoad, resource: string) => void;
}

/** One Portico, as far as snapshots go: the layers as the gateway puts them together, and the loads that tests decide on. */
export function createReplica({
  now,
  bounds = { maxBytes: 1_000_000, maxEntries: 100 },
  lifetime = LIFETIME,
  events = {},
  store = NO_SNAPSHOT_STORE,
  fingerprint = 'as always',
  onLoad,
}: ReplicaOptions) {
  const cache = createSnapshotCache(bounds);
  const secondLevel = { store, origin: 'https://platform.example', fingerprint, maxBytes: 100_000 };
  const of = (resource: string) => {
    const { load, pendingLoads } = createFakeLoader(now, (pendingLoad) => onLoad?.(pendingLoad, resource));
    const read = withCache(load, {
      ...{ resource, siblings: RESOURCES, cache, secondLevel, waiting: roomy(), events, now },
      wrapLoad: (inner) => inner,
      lifetime: resource === 'projects' ? undefined : lifetime,
    });
    return {
      pendingLoads,
      read: (caller: Caller, options: Partial<ReadOptions> = {}) => read(caller, { signal: never, ...options }),
    };
  };
  return { cache, projects: of('projects'), workflows: of('workflows'), tools: of('tools') };
}

type Resource = ReturnType<typeof createReplica>['tools'];

/** A replica that shares nothing, the events of its cache, and a clock. */
export function cacheFixture(maxBytes = 1_000_000) {
  const clock = { now: 1_800_000_000_000 };
  const told: [string, unknown][] = [];
  const events: Events = {
    readEnded: (event) => told.push(['read', event]),
    snapshotStored: (event) => told.push(['stored', event]),
    flightJoined: (event) => told.push(['joined', event]),
    snapshotEvicted: (event) => told.push(['evicted', event]),
    refreshFailed: (event) => told.push(['refreshFailed', event]),
  };
  return { clock, told, ...createReplica({ now: () => clock.now, bounds: { maxBytes, maxEntries: 100 }, events }) };
}

/** The load of this number, as soon as it has begun. */
export function pendingLoadOf({ pendingLoads }: Resource, index = 0): Promise<PendingLoad> {
  return eventually(() => pendingLoads[index]);
}

/** Reads a resource where the upstream is asked, and has it answer with these items. */
export async function readAnswered(
  resource: Resource,
  items: readonly object[],
  caller = alice,
  { rest = {}, ...options }: { readonly rest?: Partial<Load> } & Partial<ReadOptions> = {},
): Promise<Load> {
  const loads = resource.pendingLoads.length;
  const reading = resource.read(caller, options);
  (await pendingLoadOf(resource, loads)).finish(items, rest);
  return reading;
}

/** The same where the upstream answers with an error. */
export async function readRejected(
  resource: Resource,
  error: unknown,
  caller = alice,
  options: Partial<ReadOptions> = {},
): Promise<Load> {
  const loads = resource.pendingLoads.length;
  const reading = resource.read(caller, options);
  (await pendingLoadOf(resource, loads)).reject(error);
  return reading;
}
