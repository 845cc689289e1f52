import {
  createDeploymentSecret,
  type DeploymentSecret,
} from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import {
  createSharedSnapshots,
  type SharedSnapshotsOptions,
} from '../../../src/capabilities/shared-cache/shared-snapshots.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events, SharedLooked, SharedPut } from '../../../src/core/kernel/events.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { callerOf, text } from '../../core/reads/snapshots/fake-loader.ts';
import { alice, createReplica, readAnswered } from '../../core/reads/snapshots/replica.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryRedis } from '../../support/fleet/memory-redis.ts';

export const secretOf = (text: string): DeploymentSecret =>
  createDeploymentSecret(new Credential(text.padEnd(32, '.')));
const SECRET = secretOf('the secret of the deployment');

interface ReplicaOptions extends Partial<Pick<SharedSnapshotsOptions, 'secret' | 'maxValueBytes'>> {
  readonly fingerprint?: string;
}

/** Replicas of one deployment over one store, a platform behind each, and the clock of all of them. */
export function deployment() {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const redis = createMemoryRedis(now);

  function replica({ fingerprint = 'as always', ...given }: ReplicaOptions = {}) {
    const connection = redis.connect();
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
    const outcomes = () => looked.map(({ outcome }) => outcome);
    return { ...createReplica({ now, events, store: snapshots.store, fingerprint }), puts, ended, outcomes };
  }

  return { clock, redis, replica };
}

type Replica = ReturnType<ReturnType<typeof deployment>['replica']>;

/** They share a cache scope, as callers of one tenant. */
export const bob = callerOf('bob', { cacheScope: 'team' });
export const carol = callerOf('carol', { cacheScope: 'team' });

export const rejected = new GatewayError('credential_rejected');

/** Reads tools on a replica where the upstream is asked, and has it answer with one item of this id. */
export async function readLanding(replica: Replica, id: string, caller = alice, rest: Partial<Load> = {}) {
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
