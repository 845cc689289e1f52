import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import {
  AS_IT_IS,
  late,
  type Redis,
  type RedisProxy,
  STALLED,
  startRedis,
  startRedisProxy,
  type Treatment,
} from '../../support/fleet/redis.ts';
import { createReader, metric, type Replica, repeatAtOnce, startReplica } from '../../support/fleet/replicas.ts';
import { json, listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { needsCommands } from '../../support/tools.ts';

const CALLERS = 20;
const AT_ONCE = 12;
const FAULT_MS = atDepth(500, 1500);
const RESOURCES = ['tools', 'workflows', 'projects'] as const;

const tokenOfCaller = (caller: number) => `token-of-caller-${caller}.`;

function any<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

/** In place of every other reply, in turn. */
const WORDS = [
  'MOVED 1 127.0.0.1:1',
  'ASK 1 127.0.0.1:1',
  'READONLY You can not write against a read only replica.',
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script.',
  'OOM command not allowed',
  'MISCONF Redis is configured to save RDB snapshots',
  'CLUSTERDOWN The cluster is down',
  'MASTERDOWN Link with MASTER is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'NOREPLICAS Not enough good replicas to write.',
  'ERR unknown command',
];
function errors(): Treatment {
  let count = 0;
  return (reply, say) => {
    count += 1;
    say(count % 2 === 0 ? Buffer.from(`-${WORDS[(count / 2) % WORDS.length]}\r\n`) : reply);
  };
}

/** Keeps a copy of each value, and stores it again later for as long as the fault lasts. */
const KEPT = `
for _, name in ipairs(redis.call('KEYS', 'portico:list:*')) do redis.call('SET', 'kept' .. name, redis.call('GET', name)) end`;
const REPLAYED = `
for _, name in ipairs(redis.call('KEYS', 'kept*')) do redis.call('SET', string.sub(name, 5), redis.call('GET', name)) end`;
const FORGOTTEN = `for _, name in ipairs(redis.call('KEYS', 'kept*')) do redis.call('DEL', name, string.sub(name, 5)) end`;

/** Replaces each value by that of another name, of any caller and list. */
const SWAPPED = `
local names = redis.call('KEYS', 'portico:list:*')
local before = redis.call('GET', names[#names] or '')
for _, name in ipairs(names) do
  local own = redis.call('GET', name)
  redis.call('SET', name, before, 'KEEPTTL')
  before = own
end`;

const ALTERED = `
for _, name in ipairs(redis.call('KEYS', 'portico:list:*')) do redis.call('SET', name, 'of another program', 'KEEPTTL') end`;

async function again(redis: Redis, script: string): Promise<void> {
  const until = performance.now() + FAULT_MS;
  while (performance.now() < until) {
    await redis.command('EVAL', script, '0');
    await sleep(20);
  }
}

async function infoOf(redis: Redis, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(String(await redis.command('INFO')))?.[1]);
}

/** `told`: why replicas say that Redis is away, which takes them a while where they have just been there. */
interface Fault {
  readonly begin: (redis: Redis, proxy: RedisProxy) => unknown;
  readonly end?: (redis: Redis) => unknown;
  readonly told?: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'says nothing': { begin: (_, proxy) => proxy.treat(STALLED), told: 'timeout' },
  'answers late': { begin: (_, proxy) => proxy.treat(late(250)) },
  'resets every connection': {
    async begin(_, proxy) {
      for (let times = 0; times < 10; times += 1) {
        proxy.reset();
        await sleep(FAULT_MS / 10);
      }
    },
  },
  'is not there': { begin: (_, proxy) => proxy.refuse(), told: 'ECONNREFUSED' },
  'has values under other names': { begin: (redis) => again(redis, SWAPPED) },
  'has other values': { begin: (redis) => again(redis, ALTERED) },
  'has an error for every other command': { begin: (_, proxy) => proxy.treat(errors()) },
  'brings back what it held before': {
    begin: (redis) => redis.command('EVAL', KEPT, '0').then(() => again(redis, REPLAYED)),
    end: (redis) => redis.command('EVAL', FORGOTTEN, '0'),
  },
  'has no memory left': {
    begin: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    end: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  'removes whatever it holds, since memory is short': {
    async begin(redis) {
      const used = await infoOf(redis, 'used_memory');
      await redis.command('CONFIG', 'SET', 'maxmemory', `${used}`, 'maxmemory-policy', 'allkeys-random');
    },
    async end(redis) {
      expect(await infoOf(redis, 'evicted_keys')).to.be.above(0);
      await redis.command('CONFIG', 'SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
    },
  },
  'is a replica': {
    begin: (redis) => redis.command('REPLICAOF', '127.0.0.1', '1'),
    end: (redis) => redis.command('REPLICAOF', 'NO', 'ONE'),
    told: 'READONLY',
  },
  'is busy': { begin: (redis) => redis.command('DEBUG', 'SLEEP', `${FAULT_MS / 1000}`) },
  'is killed and started anew': { begin: (redis) => redis.stop('SIGKILL').then(() => redis.start()) },
};

describe('replicas under load while their Redis', function () {
  this.timeout(120_000);
  let redis: Redis;
  let proxy: RedisProxy;
  let replicas: readonly Replica[];
  let wrong: string[];
  let reads: number;
  let read: ReturnType<typeof createReader>;
  let stop: () => Promise<void>;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis('--enable-debug-command', 'yes');
    proxy = await startRedisProxy(redis);
    const platform = await startHttpUpstream(
      (request, response) => {
        const [name, token] = [listOf(request), tokenOf(request)];
        const item = { id: 'a', name: `${name} of ${token}`, description: 'x'.repeat(500) };
        setTimeout(() => json({ [name]: [item], nextPageToken: '' })(request, response), 5);
      },
      { record: false },
    );
    const options = {
      folder: redis.folder,
      platformUrl: platform.url,
      // Short, so that much is asked of Redis.
      timeoutMs: 100,
      cache: 'ttlMs: 300, staleWhileRevalidateMs: 0, staleIfErrorMs: 0',
      more: 'limits: { perCaller: 100000 }',
      heapMb: 128,
    };
    replicas = [await startReplica(proxy.redisUrl, options), await startReplica(proxy.redisUrl, options)];
  });

  beforeEach(() => {
    read = createReader();
    wrong = [];
    reads = 0;
    stop = repeatAtOnce(AT_ONCE, async () => {
      // Leaves time to the replicas.
      await sleep(5);
      reads += 1;
      const token = tokenOfCaller(Math.floor(Math.random() * CALLERS));
      const resource = any(RESOURCES);
      const { status, body } = await read(any(replicas), resource, token);
      if (status !== 200 || !body.includes(`"${resource} of ${token}"`)) wrong.push(`${status} ${body.slice(0, 300)}`);
    });
  });

  afterEach(() => stop());

  for (const [fault, { begin, end = () => {}, told }] of Object.entries(FAULTS)) {
    it(`${fault}, fail no read, give no caller another one's list, and recover by themselves`, async () => {
      await eventually(() => reads > 100);
      await begin(redis, proxy);
      await sleep(FAULT_MS);
      if (told !== undefined) {
        const line = `"reason":"${told}","msg":"Redis unavailable"`;
        for (const { process } of replicas) {
          await eventually(async () => {
            if (process.stdout().includes(line)) return true;
            // On a slow machine a replica has looked too seldom meanwhile.
            await begin(redis, proxy);
            return false;
          });
        }
      }
      const during = reads;
      await end(redis);
      proxy.treat(AS_IT_IS);
      // Replies that were left out would be taken for those of later commands: TCP loses none.
      proxy.reset();
      await proxy.accept();
      for (const [index, replica] of replicas.entries()) {
        const series = 'portico_shared_cache_lookups_total{resource="tools",outcome="hit"}';
        const before = await metric(replica, series);
        await eventually(async () => {
          // One loads a list, and the other takes it.
          await read(replicas[1 - index] as Replica, 'tools', tokenOfCaller(CALLERS));
          await read(replica, 'tools', tokenOfCaller(CALLERS));
          return (await metric(replica, series)) > before;
        });
      }
      await stop();
      expect(wrong).to.deep.equal([]);
      expect(during).to.be.above(100);
    });
  }

  it('was all of that, end as they should, and have written no token anywhere', async () => {
    await stop();
    for (const replica of replicas) {
      expect(
        await metric(replica, 'portico_shared_cache_lookups_total{resource="tools",outcome="altered"}'),
      ).to.be.above(0);
    }
    for (const { process } of replicas) {
      const { code, stdout, stderr } = await process.stop();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.not.contain('token-of-caller');
      expect(stdout.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line))).to.deep.equal([]);
    }
  });
});
