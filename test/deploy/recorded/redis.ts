import { setTimeout as sleep } from 'node:timers/promises';
import {
  AS_IT_IS,
  type Redis,
  type RedisProxy,
  startRedis,
  startRedisProxy,
  type Treatment,
} from '../../support/fleet/redis.ts';
import { repeat, type Scenarios, type Scene, writeSecret } from './scene.ts';

/** What Redis responds to every command while it starts. */
const FAILING: Treatment = (_reply, say) => say(Buffer.from('-LOADING Redis is loading the dataset in memory\r\n'));

let redis: Redis;
let proxy: RedisProxy;
const shared = async ({ folder }: Pick<Scene, 'folder'>) => {
  redis = await startRedis();
  proxy = await startRedisProxy(redis);
  return { shared: { url: proxy.redisUrl, timeoutMs: 200, keySecretFile: await writeSecret(folder) } };
};

export const REDIS: Scenarios = {
  'a Redis that is gone': {
    settings: shared,
    provoke: () => redis.stop(),
    faulty: 60,
    fires: ['PorticoSharedStoreLost'],
    shows: [/^Redis: unreachable for \d+ s \(\w+\)$/],
  },
  'a full Redis': {
    settings: shared,
    provoke: () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    fires: ['PorticoSharedStoreFull'],
    shows: [/^Redis: \d+ commands refused in the last minute: its memory is full$/],
  },
  'a Redis that fails again and again': {
    settings: shared,
    provoke: () =>
      void repeat(async () => {
        proxy.treat(FAILING);
        await sleep(1200);
        proxy.treat(AS_IT_IS);
        await sleep(800);
      }, 0),
    everyMs: 500,
    fires: ['PorticoSharedStoreFlapping'],
    // While it is connected.
    shows: [/^Redis: \d+ losses of the connection in ten minutes$/],
    flickers: true,
  },
};
