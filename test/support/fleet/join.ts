import { createDeploymentSecret } from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import {
  createRedisConnection,
  type RedisConnectionOptions,
} from '../../../src/capabilities/shared-cache/redis-connection.ts';
import { createSharedCounts } from '../../../src/capabilities/shared-cache/shared-counts.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { onCleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';

const SECRET = createDeploymentSecret(new Credential('the secret of all replicas of it'));

export interface JoinOptions extends Partial<RedisConnectionOptions> {
  readonly prefix?: string;
}

/** One replica of a deployment, as far as Redis goes. */
export type Fleet = ReturnType<typeof join>;

/** Joins as one more replica, with timeouts for a machine that is busy with other work. It leaves when the test ends. */
export function join(url: string, { prefix = 'portico', ...options }: JoinOptions = {}) {
  const messages: string[] = [];
  const connection = createRedisConnection({
    ...{ url, cluster: false, timeoutMs: 10_000, connectTimeoutMs: 10_000, events: {} },
    user: async () => ({}),
    channel: `${prefix}:evictions`,
    onMessage: (message) => messages.push(message),
    ...options,
  });
  const { run } = connection;
  const keyIn = (name: string) => `${prefix}:list:${name}`;
  void connection.open();
  onCleanup(connection.close);
  return Object.assign(connection, {
    messages,
    counts: createSharedCounts({ redis: connection, prefix, keyOf: SECRET.keyOf }),
    get: (name: string) => run('get', ({ get }) => get(keyIn(name), 1000)),
    set: (name: string, text: string) => run('set', ({ set }) => set(keyIn(name), Buffer.from(text), 60_000)),
    remove: (name: string) => run('delete', (commands) => commands.delete(keyIn(name))),
    publish: (message: string) => run('publish', ({ publish }) => publish(`${prefix}:evictions`, message)),
  });
}

/** The same, once Redis is up. */
export async function joined(url: string, options: JoinOptions = {}): Promise<Fleet> {
  const fleet = join(url, options);
  await eventually(() => fleet.isUp);
  return fleet;
}

/** Records changes of the connection: `up`, or why it is not. */
export function storeLog() {
  const changes: string[] = [];
  const events: Events = { sharedStoreChanged: ({ isUp, why }) => void changes.push(isUp ? 'up' : `${why}`) };
  return { changes, events };
}
