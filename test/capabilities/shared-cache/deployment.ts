import {
  createDeploymentSecret,
  type DeploymentSecret,
} from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import {
  createSharedSnapshots,
  type SharedSnapshotsOptions,
} from '../../../src/capabilities/shared-cache/shared-snapshots.ts';
import { type Caller, Credential } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events, SharedLooked, SharedPut } from '../../../src/core/kernel/events.ts';
import { createSnapshotCache } from '../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { withCache } from '../../../src/core/reads/snapshots/with-cache.ts';
import {
  callerOf,
  createFakeLoader,
  errorOf,
  never,
  type PendingLoad,
  roomy,
  text,
} from '../../core/reads/snapshots/fake-loader.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryRedis } from '../../support/fleet/memory-redis.ts';

const LIFETIME = {
  ttlMs: 60_000,
  staleWhileRevalidateMs: 300_000,
  staleIfErrorMs: 3_600_000,
  minRefreshMs: 5000,
};

export const secretOf = (text: string): DeploymentSecret =>
  createDeploymentSecret(new Credential(text.padEnd(32, '.')));
const SECRET = secretOf('the secret of the deployment');

interface ReplicaOptions extends Partial<Pick<SharedSnapshotsOptions, 'secret' | 'maxValueBytes'>> {
  readonly fingerprint?: string;
}

type Replica = ReturnType<ReturnType<typeof deployment>['replica']>;

/** Replicas of one deployment over one store, a platform behind each, and the clock of all of them. */
export function deployment() {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const redis = createMemoryRedis(now);

  function replica({ fingerprint = 'as always', ...given }: ReplicaOptions = {}) {
    const connection = redis.connect();
    const cache = createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 100 });
    const looked: SharedLooked[] = [];
    const puts: SharedPut[] = [];
    const ended: (string | undefined)[] = [];
    const events: Events = {
      sharedLooked: (event) => looked.push(event),
      sharedPut: (event) => puts.push(event),
      readEnded: ({ cache: outcome, error }) => ended.push(outcome ?? error),
    };
    const snapshots = createSharedSnapshots({
      ...{ redis: connection, secret: SECRET, prefix: 'portico', channel: 'evictions', maxValueBytes: 100_000 },
      ...{ events, now },
      ...given,
    });
    connection.listen(snapshots);
    const of = (resource: string) => {
      const { load, pendingLoads } = createFakeLoader(now);
      const read = withCache(load, {
        wrapLoad: (inner) => inner,
        resource,
        siblings: ['projects', 'workflows', 'tools'],
        cache,
        secondLevel: { store: snapshots.store, origin: 'https://platform.example', fingerprint, maxBytes: 1_000_000 },
        lifetime: resource === 'projects' ? undefined : LIFETIME,
        waiting: roomy(),
        events,
        now,
      });
      return {
        pendingLoads,
        async read(caller: Caller, { signal = never, noCache = false } = {}): Promise<Load> {
          return read(caller, { signal, noCache });
        },
      };
    };
    return {
      connection,
      cache,
      puts,
      ended,
      outcomes: () => looked.map(({ outcome }) => outcome),
      projects: of('projects'),
      tools: of('tools'),
    };
  }

  return { clock, redis, replica };
}

/** The load of this number, as soon as it has begun. */
export function pendingLoadOf({ pendingLoads }: Replica['tools'], index = 0): Promise<PendingLoad> {
  return eventually(() => pendingLoads[index]);
}

export const SECOND = 1000;
export const MINUTE = 60_000;
export const failed = new GatewayError('upstream_failed', { upstreamStatus: 503, countsForBreaker: true });

export const alice = callerOf('alice');
/** They share a cache scope, as callers of one tenant. */
export const bob = callerOf('bob', { cacheScope: 'team' });
export const carol = callerOf('carol', { cacheScope: 'team' });

/** Reads a resource where the upstream is asked, and has it answer with these items. */
export async function readAnswered(
  resource: Replica['tools'],
  items: readonly object[],
  caller: Caller = alice,
  { rest = {}, ...options }: { readonly rest?: Partial<Load>; readonly noCache?: boolean } = {},
): Promise<Load> {
  const loads = resource.pendingLoads.length;
  const reading = resource.read(caller, options);
  (await pendingLoadOf(resource, loads)).finish(items, rest);
  return reading;
}

/** The same where the upstream answers with an error; returns what the read rejects with. */
export async function readRefused(resource: Replica['tools'], error: unknown): Promise<unknown> {
  const loads = resource.pendingLoads.length;
  const reading = errorOf(resource.read(alice));
  (await pendingLoadOf(resource, loads)).reject(error);
  return reading;
}

export const rejected = new GatewayError('credential_rejected');

/** Reads tools on a replica where the upstream is asked, and has it answer with one item of this id. */
export async function readLanding(
  replica: Replica,
  id: string,
  caller: Caller = alice,
  rest: Partial<Load> = {},
): Promise<Load> {
  const { tools, puts } = replica;
  const put = puts.length;
  const loaded = await readAnswered(tools, [{ id }], caller, { rest });
  await eventually(() => puts.length > put);
  return loaded;
}

export const ids = (load: Load): string =>
  JSON.parse(text(load))
    .map(({ id }: { id: string }) => id)
    .join();
