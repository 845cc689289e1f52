import { type Announcements, createAnnouncements } from '../../../src/capabilities/shared-cache/announcements.ts';
import { createDeploymentSecret } from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import {
  createRedisConnection,
  type RedisConnection,
  type RedisConnectionOptions,
} from '../../../src/capabilities/shared-cache/redis-connection.ts';
import {
  createRedisCounts,
  createRedisKeys,
  createRedisStore,
  type Lease,
} from '../../../src/capabilities/shared-cache/redis-store.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { onCleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';

export const SECRET = createDeploymentSecret(new Credential('the secret of all replicas of it'));

export interface JoinOptions extends Partial<RedisConnectionOptions> {
  readonly prefix?: string;
  readonly maxValueBytes?: number;
  readonly maxPending?: number;
}

/** One replica of a deployment, as far as Redis goes. */
export type Fleet = ReturnType<typeof join>;

/** Joins as one more replica, with timeouts for a machine that is busy with other work. It leaves when the test ends. */
export function join(url: string, options: JoinOptions = {}) {
  const { prefix = 'portico', maxValueBytes = 1_048_576, maxPending, events = {} } = options;
  const keys = createRedisKeys(prefix);
  const connection: RedisConnection = createRedisConnection({
    ...{ url, cluster: false, timeoutMs: 10_000, connectTimeoutMs: 10_000, events },
    user: async () => ({}),
    heartbeat: (run) => announcements.exchange(run),
    ...options,
  });
  const { seal, open, keyOf } = SECRET;
  const announcements: Announcements = createAnnouncements({ connection, keys, seal, open, events, maxPending });
  const store = createRedisStore({ connection, keys, maxValueBytes });
  const counts = createRedisCounts({ connection, keys, keyOf });
  connection.open();
  onCleanup(connection.close);
  return Object.assign(connection, { store, announcements, counts });
}

/** The same, once Redis is up. */
export async function joined(url: string, options: JoinOptions = {}): Promise<Fleet> {
  const fleet = join(url, options);
  await eventually(() => fleet.isUp);
  return fleet;
}

/** The lease of a name, which no other replica has. */
export async function leaseOf({ store }: Pick<Fleet, 'store'>, name: string, ms = 60_000): Promise<Lease> {
  const lease = await store.lease(name, ms);
  if (lease === undefined || lease === 'other') throw new Error(`no lease: ${lease}`);
  return lease;
}

/** Records the events of the store, and error codes of its changes where there are any. */
export function storeLog() {
  const changes: string[] = [];
  const errors: string[] = [];
  const evicted: unknown[] = [];
  const events: Events = {
    sharedStoreChanged({ isUp, why, error }) {
      changes.push(isUp ? 'up' : `${why}`);
      if (error !== undefined) errors.push(error);
    },
    sharedEvictionsReceived: ({ names }) => evicted.push(names ?? 'all'),
  };
  return { changes, errors, evicted, events };
}
