import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Connection } from '../../../../src/capabilities/shared-cache/redis/connection.ts';
import { createEvictions } from '../../../../src/capabilities/shared-cache/redis/evictions.ts';
import type { Call } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { createNaming } from '../../../../src/capabilities/shared-cache/redis/names.ts';
import { createStore } from '../../../../src/capabilities/shared-cache/redis/store.ts';
import type { SharedStore } from '../../../../src/capabilities/shared-cache/snapshots/store.ts';
import { joined } from '../../../support/fleet/fleet.ts';
import { type Redis, startRedis } from '../../../support/fleet/redis.ts';
import { holdToContract } from '../../../support/fleet/shared-store-contract.ts';
import { needsCommands } from '../../../support/tools.ts';

describe('the store in Redis', () => {
  let redis: Redis;
  let count = 0;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
  });

  holdToContract(async () => {
    count += 1;
    const prefix = `test-${count}`;
    return {
      connect: async (): Promise<SharedStore> => (await joined(redis.url, { prefix })).store,
      pass: (ms) => sleep(ms),
      async flush() {
        await redis.command('FLUSHALL');
      },
    };
  });

  it('counts nothing that was put in another life: before a restart, a failover, or an emptied store', async () => {
    const own = await startRedis('--save', '3600 1');
    for (const end of [
      async () => {
        await own.command('SAVE');
        await own.stop('SIGKILL');
        await own.start();
      },
      async () => {
        await own.command('REPLICAOF', '127.0.0.1', '1');
        await own.command('REPLICAOF', 'NO', 'ONE');
      },
      () => own.command('DEL', 'portico:{0}:life'),
    ]) {
      const one = await joined(own.url);
      const { generation = '' } = (await one.store.look('a')) ?? {};
      expect(await one.store.put('a', Buffer.of(1), { generation, ttlMs: 60_000 })).to.equal(true);
      await end();
      expect(await own.command('EXISTS', 'portico:{0}:value:a'), 'it is still there').to.equal(1);
      const other = await joined(own.url);
      const now = await other.store.look('a');
      expect(now?.held).to.equal(undefined);
      expect(now?.generation).to.not.equal(generation);
      expect(await other.store.put('a', Buffer.of(1), { generation, ttlMs: 60_000 })).to.equal(false);
    }
  });

  it('takes nothing for a value that is larger than is taken', async () => {
    const [small, large] = [await joined(redis.url, { maxValueBytes: 4 }), await joined(redis.url)];
    const { generation = '' } = (await large.store.look('a')) ?? {};
    expect(await small.store.put('a', Buffer.alloc(5), { generation, ttlMs: 60_000 })).to.equal(false);
    expect(await large.store.put('a', Buffer.alloc(5), { generation, ttlMs: 60_000 })).to.equal(true);
    expect(await small.store.look('a')).to.deep.equal({ held: undefined, generation });
    expect((await large.store.look('a'))?.held).to.deep.equal(Buffer.alloc(5));
  });

  it('forgets no eviction where memory is short, as long as what was put before it may come back', async () => {
    for (const policy of ['volatile-ttl', 'volatile-lru', 'volatile-random', 'allkeys-lru', 'allkeys-random']) {
      const own = await startRedis('--maxmemory-policy', policy);
      const { store } = await joined(own.url);
      const { generation = '' } = (await store.look('a')) ?? {};
      await store.evict(['a']);
      const used = Number(/used_memory:(\d+)/.exec(String(await own.command('INFO', 'memory')))?.[1]);
      await own.command('CONFIG', 'SET', 'maxmemory', `${used + 1_000_000}`);
      const put = async (name: string) => {
        const { generation = '' } = (await store.look(name)) ?? {};
        return store.put(name, Buffer.alloc(50_000), { generation, ttlMs: 3_600_000 });
      };
      for (let count = 0; count < 60; count += 1) await put(`much ${count}`);
      expect(String(await own.command('INFO', 'stats')), policy).to.match(/evicted_keys:[1-9]/);
      expect(await store.put('a', Buffer.of(1), { generation, ttlMs: 60_000 }), policy).to.equal(false);
      expect((await store.look('a'))?.held, policy).to.equal(undefined);
    }
  });

  it('takes up no more for names that were evicted, however many', async () => {
    const { store } = await joined(redis.url, { prefix: 'flooded' });
    for (let step = 0; step < 20; step += 1) {
      await store.evict(Array.from({ length: 100 }, (_, count) => `${step}-${count} of nobody`));
    }
    const keys = (await redis.command('KEYS', 'flooded:*')) as string[];
    expect(keys.sort()).to.deep.equal(['flooded:{0}:evictions', 'flooded:{0}:life']);
  });

  it('takes no generation that would be long to keep', async () => {
    const { store } = await joined(redis.url, { prefix: 'evil' });
    await redis.command('HSET', 'evil:{0}:life', 'born', 'x'.repeat(200));
    expect(await store.look('a')).to.equal(undefined);
  });
});

describe('a lease that was not said to be given in time', () => {
  it('is given back: it may have been given all the same', async () => {
    const asked: Call[] = [];
    const connection: Pick<Connection, 'ask'> = {
      async ask(call) {
        asked.push(call);
        return { said: 'timeout' };
      },
    };
    const naming = createNaming('portico', false);
    const evictions = createEvictions({ naming, ask: connection.ask, events: {} });
    const store = createStore({ connection, naming, evictions, maxValueBytes: 1000 });
    expect(await store.lease('a', 1000)).to.equal(undefined);
    expect(asked.map(({ script, keys, args }) => [script.name, ...keys, args[0]])).to.deep.equal([
      ['lease', 'portico:{0}:lease:a', asked[0]?.args[0]],
      ['release', 'portico:{0}:lease:a', asked[0]?.args[0]],
    ]);
  });
});
