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
import { createReader, forAll, metric, type Replica, startReplica } from '../../support/fleet/replicas.ts';
import { json, listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { needsCommands } from '../../support/tools.ts';

const CALLERS = 60;
const AT_ONCE = 12;
/** How long each fault lasts, at least. */
const FAULT_MS = atDepth(500, 1500);
const RESOURCES = ['tools', 'workflows', 'projects'] as const;

const tokenOfCaller = (caller: number) => `token-of-caller-${caller}.`;

function any<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

/** Sends something ahead of every tenth reply. */
function unasked(bytes: string): Treatment {
  let count = 0;
  return (reply, say) => {
    count += 1;
    if (count % 10 === 0) say(Buffer.from(bytes));
    say(reply);
  };
}

/** Sends this in place of every tenth reply, and then more and more. */
function endless(begin: string, more: string): Treatment {
  let count = 0;
  return (reply, say) => {
    count += 1;
    if (count % 10 !== 0) return say(reply);
    say(Buffer.from(begin));
    for (let times = 0; times < 200; times += 1) say(Buffer.from(more));
  };
}

/** Sends each piece of what Redis says after the one behind it. */
function swapped(): Treatment {
  let kept: Buffer | undefined;
  return (reply, say) => {
    if (kept === undefined) {
      kept = reply;
      return say(Buffer.alloc(0));
    }
    const before = kept;
    kept = undefined;
    say(reply);
    say(before);
  };
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

/** Keeps what each value is, and puts it back later, with the life of then, for as long as anybody likes. */
const KEPT = `
for _, name in ipairs(redis.call('KEYS', '*:value:*')) do redis.call('SET', 'kept' .. name, redis.call('HGET', name, 'bytes')) end`;
const REPLAYED = `
local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local life = id .. '.' .. redis.call('HGET', 'portico:{0}:life', 'born')
for _, name in ipairs(redis.call('KEYS', 'kept*')) do
  redis.call('HSET', string.sub(name, 5), 'life', life, 'bytes', redis.call('GET', name))
  redis.call('PERSIST', string.sub(name, 5))
end`;
const FORGOTTEN = `for _, name in ipairs(redis.call('KEYS', 'kept*')) do redis.call('DEL', name, string.sub(name, 5)) end`;

/** Begins another life at each turn. */
const REBORN = `redis.call('HSET', 'portico:{0}:life', 'born', string.rep(redis.call('TIME')[2], 4))`;

/** Has everything be of another kind. */
const OTHER_KIND = `
for _, name in ipairs(redis.call('KEYS', 'portico:*')) do
  redis.call('DEL', name)
  redis.call('RPUSH', name, 'of another kind')
end`;

/** Has each value be what stood under another name, of any caller and list, as long as the fault lasts. */
const SWAPPED = `
local names = redis.call('KEYS', '*:value:*')
local before = redis.call('HGET', names[#names] or '', 'bytes')
for _, name in ipairs(names) do
  local own = redis.call('HGET', name, 'bytes')
  redis.call('HSET', name, 'bytes', before)
  before = own
end`;

/** Has each value be something else. */
const ALTERED = `
for _, name in ipairs(redis.call('KEYS', '*:value:*')) do redis.call('HSET', name, 'bytes', 'of somebody else') end`;

/** Has it so that another replica seems to load each list, and never comes to an end. */
const LEASED = `
for _, name in ipairs(redis.call('KEYS', '*:value:*')) do
  redis.call('SET', (string.gsub(name, ':value:', ':lease:')), 'of nobody', 'PX', 600000)
end`;
const UNLEASED = `for _, name in ipairs(redis.call('KEYS', '*:lease:*')) do redis.call('DEL', name) end`;

/** Tells replicas of rejections that no replica has told. */
const MADE_UP = `
redis.call('XADD', 'portico:{0}:rejections', '*', 'from', 'x', 'rejections', string.rep('made-up ', 100))`;

async function often(redis: Redis, ...command: readonly string[]): Promise<void> {
  const until = performance.now() + FAULT_MS;
  while (performance.now() < until) {
    await redis.command(...command);
    await sleep(20);
  }
}

const again = (redis: Redis, script: string) => often(redis, 'EVAL', script, '0');

/** `told`: why replicas say that Redis is away, which takes them a while where they have just been there. */
interface Fault {
  readonly begin: (redis: Redis, proxy: RedisProxy) => unknown;
  readonly end?: (redis: Redis) => unknown;
  readonly told?: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'says nothing': { begin: (_, proxy) => proxy.treat(STALLED), told: 'stalled' },
  'answers late': { begin: (_, proxy) => proxy.treat(late(250)) },
  'resets every connection': {
    async begin(_, proxy) {
      for (let times = 0; times < 10; times += 1) {
        proxy.reset();
        await sleep(FAULT_MS / 10);
      }
    },
  },
  'is not there': { begin: (_, proxy) => proxy.refuse(), told: 'unreachable' },
  'sends what is no reply': {
    begin: (_, proxy) => proxy.treat(unasked('HTTP/1.1 400 Bad Request\r\n\r\n')),
    told: 'out_of_step',
  },
  'sends replies that nobody asked for': {
    begin: (_, proxy) => proxy.treat(unasked('*2\r\n$1\r\n1\r\n$2\r\nok\r\n')),
  },
  'sends a reply without an end': { begin: (_, proxy) => proxy.treat(unasked('$500000000\r\n')) },
  'announces arrays within arrays that no memory has room for': {
    begin: (_, proxy) => proxy.treat(unasked('*30000000\r\n'.repeat(20))),
  },
  'sends a list without an end': {
    begin: (_, proxy) => proxy.treat(endless('*2000000000\r\n', ':1\r\n'.repeat(16_384))),
  },
  'sends a value without an end': {
    begin: (_, proxy) => proxy.treat(endless('$2000000000\r\n', 'x'.repeat(65_536))),
  },
  'has values under other names': { begin: (redis) => again(redis, SWAPPED) },
  'has other values': { begin: (redis) => again(redis, ALTERED) },
  'tells of rejections that there were not': { begin: (redis) => again(redis, MADE_UP) },
  'says one thing for another': { begin: (_, proxy) => proxy.treat(swapped()) },
  'has an error for every other command': { begin: (_, proxy) => proxy.treat(errors()) },
  'brings back what it held before': {
    begin: (redis) => redis.command('EVAL', KEPT, '0').then(() => again(redis, REPLAYED)),
    end: (redis) => redis.command('EVAL', FORGOTTEN, '0'),
  },
  'has everything be of another kind': {
    begin: (redis) => again(redis, OTHER_KIND),
    end: (redis) => redis.command('FLUSHALL'),
  },
  'begins another life again and again': { begin: (redis) => again(redis, REBORN), told: 'unsteady' },
  'has no memory left': {
    begin: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    end: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  'removes whatever it holds, since memory is short': {
    begin: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1500000', 'maxmemory-policy', 'allkeys-random'),
    end: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'),
  },
  'says of each list that another replica loads it': {
    begin: (redis) => again(redis, LEASED),
    end: (redis) => redis.command('EVAL', UNLEASED, '0'),
  },
  'takes away what its user may do': {
    begin: (redis) => redis.command('ACL', 'SETUSER', 'default', '-evalsha', '-eval'),
    end: (redis) => redis.command('ACL', 'SETUSER', 'default', '+@all'),
  },
  'forgets its scripts again and again': { begin: (redis) => often(redis, 'SCRIPT', 'FLUSH') },
  'is emptied again and again': { begin: (redis) => often(redis, 'FLUSHALL') },
  'is a replica': {
    begin: (redis) => redis.command('REPLICAOF', '127.0.0.1', '1'),
    end: (redis) => redis.command('REPLICAOF', 'NO', 'ONE'),
    told: 'replica',
  },
  'is emptied': { begin: (redis) => redis.command('FLUSHALL') },
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
  let durations: number[];
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
      shared: 'leaseMs: 1000, waitMs: 500',
      cache: 'ttlMs: 300, staleWhileRevalidateMs: 0, staleIfErrorMs: 0',
      more: 'limits: { perCaller: 100000, total: 10000000 }',
      heapMb: 128,
    };
    replicas = [await startReplica(proxy.redisUrl, options), await startReplica(proxy.redisUrl, options)];
  });

  beforeEach(() => {
    const read = createReader();
    let isOver = false;
    wrong = [];
    durations = [];
    reads = 0;
    const done = forAll(Array.from({ length: AT_ONCE }), AT_ONCE, async () => {
      while (!isOver) {
        reads += 1;
        const token = tokenOfCaller(Math.floor(Math.random() * CALLERS));
        const resource = any(RESOURCES);
        const begun = performance.now();
        const { status, body } = await read(any(replicas), resource, token);
        durations.push(performance.now() - begun);
        if (status !== 200 || !body.includes(`"${resource} of ${token}"`))
          wrong.push(`${status} ${body.slice(0, 300)}`);
      }
    });
    stop = async () => {
      isOver = true;
      await done;
    };
  });

  afterEach(() => stop());

  for (const [fault, { begin, end = () => {}, told }] of Object.entries(FAULTS)) {
    it(`${fault}, fail no read, give nobody another one's list, and have it again by themselves`, async () => {
      await eventually(() => reads > 100);
      await begin(redis, proxy);
      await sleep(FAULT_MS);
      if (told !== undefined) {
        const line = `"reason":"${told}","msg":"shared store away"`;
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
      await proxy.accept();
      for (const replica of replicas) {
        const series = 'portico_shared_looks_total{resource="tools",outcome="hit"}';
        const before = await metric(replica, series);
        await eventually(async () => (await metric(replica, series)) > before);
      }
      await stop();
      expect(wrong).to.deep.equal([]);
      expect(during).to.be.above(100);
      if (process.env['SHOW'] !== undefined) {
        durations.sort((one, other) => one - other);
        const at = (share: number) => durations[Math.floor(durations.length * share)]?.toFixed(1);
        process.stderr.write(
          `      ${reads} reads, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(0.99999)} ms\n`,
        );
      }
    });
  }

  it('was all of that, end as they should, and have written no token anywhere', async () => {
    await stop();
    for (const replica of replicas) {
      expect(await metric(replica, 'portico_shared_looks_total{resource="tools",outcome="altered"}')).to.be.above(0);
    }
    for (const { process } of replicas) {
      const { code, stdout, stderr } = await process.stop();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.not.contain('token-of-caller');
      expect(stdout.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line))).to.deep.equal([]);
    }
  });
});
