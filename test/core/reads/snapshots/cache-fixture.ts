import type { Caller } from '../../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Events } from '../../../../src/core/kernel/events.ts';
import { createSnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { NO_SNAPSHOT_STORE, withCache } from '../../../../src/core/reads/snapshots/with-cache.ts';
import { callerOf, createFakeLoader, never, roomy } from './fake-loader.ts';

export const LIFETIME = {
  ttlMs: 60_000,
  staleWhileRevalidateMs: 300_000,
  staleIfErrorMs: 3_600_000,
  minRefreshMs: 5000,
};
export const SECOND = 1000;
export const MINUTE = 60_000;
export const failed = new GatewayError('upstream_failed', { upstreamStatus: 503, countsForBreaker: true });

/** The three resources of one upstream behind one cache, and a clock. */
export function cacheFixture({ maxBytes = 1_000_000, lifetime = LIFETIME } = {}) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const told: [string, unknown][] = [];
  const events: Events = {
    readEnded: (event) => told.push(['read', event]),
    snapshotStored: (event) => told.push(['stored', event]),
    flightJoined: (event) => told.push(['joined', event]),
    snapshotEvicted: (event) => told.push(['evicted', event]),
    refreshFailed: (event) => told.push(['refreshFailed', event]),
  };
  const cache = createSnapshotCache({ maxBytes, maxEntries: 100 });
  const of = (resource: string) => {
    const { load, pendingLoads } = createFakeLoader(now);
    const secondLevel = { store: NO_SNAPSHOT_STORE, origin: '', fingerprint: '', maxBytes: 0 };
    const source = withCache(load, {
      ...{ resource, siblings: ['projects', 'workflows', 'tools'], cache, waiting: roomy(), events, now, secondLevel },
      wrapLoad: (inner) => inner,
      lifetime: resource === 'projects' ? undefined : lifetime,
    });
    const read = (caller: Caller, signal = never, { noCache = false, noStore = false } = {}) =>
      source(caller, { signal, noCache, noStore });
    return { read, source, pendingLoads };
  };
  return { clock, cache, told, projects: of('projects'), workflows: of('workflows'), tools: of('tools') };
}

type Resource = ReturnType<typeof cacheFixture>['tools'];

/** Reads once, and has the upstream answer with one item of this id. */
export async function readFinished({ read, pendingLoads }: Resource, id: string, caller = alice): Promise<Load> {
  const reading = read(caller);
  pendingLoads.at(-1)?.finish([{ id }]);
  return reading;
}

/** Reads once, and has the upstream's load reject. */
export async function readRejected(
  { read, pendingLoads }: Resource,
  error: unknown,
  { caller = alice, noCache = false } = {},
): Promise<Load> {
  const reading = read(caller, never, { noCache });
  pendingLoads.at(-1)?.reject(error);
  return reading;
}

export const alice = callerOf('alice');
export const bob = callerOf('bob');
