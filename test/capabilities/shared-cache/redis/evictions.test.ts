import { expect } from 'chai';
import { createEvictions } from '../../../../src/capabilities/shared-cache/redis/evictions.ts';
import { createNaming } from '../../../../src/capabilities/shared-cache/redis/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { joined, storeLog } from '../../../support/fleet/fleet.ts';
import { late, type Redis, type RedisProxy, startRedis, startRedisProxy } from '../../../support/fleet/redis.ts';
import { needsCommands } from '../../../support/tools.ts';

const TTL_MS = 60_000;

describe('evictions that replicas tell each other', () => {
  let redis: Redis;
  let proxy: RedisProxy;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
  });

  /** A replica behind the proxy, which may be cut off, another that is not, and what the first one hears. */
  async function pair() {
    const [one, other] = [await joined(proxy.redisUrl), await joined(redis.url)];
    const heard: unknown[] = [];
    one.store.onEvicted((names) => heard.push(names));
    return { one, other, heard };
  }

  it('are heard by whoever was away meanwhile, each of them', async () => {
    const { one, other, heard } = await pair();
    await proxy.refuse();
    await eventually(() => !one.isUp);
    for (let count = 0; count < 150; count += 1) await other.store.evict([`a${count}`, `b${count}`]);
    await proxy.accept();
    await eventually(() => one.isUp);
    const all = Array.from({ length: 150 }, (_, count) => [`a${count}`, `b${count}`]).flat();
    expect(heard.flat()).to.deep.equal(all);
  });

  it('are told once Redis is there again, before anything is taken from it', async () => {
    const { one, other } = await pair();
    const { generation = '' } = (await other.store.look('a')) ?? {};
    expect(await other.store.put('a', Buffer.of(1), { generation, ttlMs: TTL_MS })).to.equal(true);
    await proxy.refuse();
    await eventually(() => !one.isUp);
    await one.store.evict(['a']);
    expect((await other.store.look('a'))?.held).to.deep.equal(Buffer.of(1));
    const heard: unknown[] = [];
    other.store.onEvicted((names) => heard.push(names));
    await proxy.accept();
    await eventually(() => one.isUp);
    expect((await one.store.look('a'))?.held).to.equal(undefined);
    expect(await other.store.put('a', Buffer.of(1), { generation, ttlMs: TTL_MS })).to.equal(false);
    await eventually(() => heard.length > 0);
    expect(heard).to.deep.equal([['a']]);
  });

  for (const [what, happen] of [
    ['emptied', () => redis.command('FLUSHALL')],
    ['started anew', () => redis.stop('SIGKILL').then(() => redis.start())],
    [
      'another master for a while',
      () => redis.command('REPLICAOF', '127.0.0.1', '1').then(() => redis.command('REPLICAOF', 'NO', 'ONE')),
    ],
    ['left without what was told', () => redis.command('XTRIM', 'portico:{0}:evictions', 'MAXLEN', '0')],
    ['left without the place where it is told', () => redis.command('DEL', 'portico:{0}:evictions')],
  ] as const) {
    it(`may have been missed where Redis was ${what} while one was away`, async () => {
      const { one, other, heard } = await pair();
      await other.store.evict(['before']);
      await eventually(() => heard.length === 1);
      await proxy.refuse();
      await eventually(() => !one.isUp);
      await other.store.evict(['missed']);
      await happen();
      await proxy.accept();
      await eventually(() => heard.length > 1);
      expect(heard).to.deep.equal([['before'], 'unknown']);
    });
  }

  it('are told at the end for as long as one call may take, and no longer', async () => {
    let told = 0;
    const fleet = await joined(proxy.redisUrl, {
      ...{ timeoutMs: 1000, events: { sharedEvictionsTold: () => (told += 1) } },
    });
    proxy.treat(late(50));
    const names = Array.from({ length: 3000 }, (_, count) => `name${count}`);
    void fleet.store.evict(names);
    await fleet.close();
    expect(told).to.be.below(30);
  });

  it('take what was put with them where nobody knows any more which they were', async () => {
    const away = await joined(proxy.redisUrl, { maxWaiting: 10 });
    const { other, heard } = await pair();
    const { generation = '' } = (await other.store.look('kept')) ?? {};
    await other.store.put('kept', Buffer.of(1), { generation, ttlMs: TTL_MS });
    await proxy.refuse();
    await eventually(() => !away.isUp);
    await away.store.evict(Array.from({ length: 11 }, (_, count) => `name${count}`));
    await proxy.accept();
    await eventually(() => away.isUp);
    expect((await other.store.look('kept'))?.held).to.equal(undefined);
    expect(await other.store.put('kept', Buffer.of(1), { generation, ttlMs: TTL_MS })).to.equal(false);
    await eventually(() => heard.includes('unknown'));
  });

  it('are told to the metrics: sent, heard, missed', async () => {
    const { events, heard } = storeLog();
    await joined(redis.url, { events });
    const told: number[] = [];
    const other = await joined(redis.url, { events: { sharedEvictionsTold: ({ names }) => told.push(names) } });
    await other.store.evict(Array.from({ length: 150 }, (_, count) => `name${count}`));
    expect(told).to.deep.equal([100, 50]);
    await eventually(() => heard.length > 0);
    await redis.command('FLUSHALL');
    await eventually(() => heard.includes('unknown'));
    expect(
      heard.filter((count) => count !== 'unknown').reduce((sum, count) => Number(sum) + Number(count), 0),
    ).to.equal(150);
  });
});

describe('evictions that a store makes up', () => {
  const ENTRY = ['1-0', ['from', 'it', 'names', Buffer.from('a b')]];
  const pageOf = (unheard: unknown) => ['life', 1, '1-0', unheard];
  for (const [what, more] of [
    ['no list', pageOf('x')],
    ['a list of something else', pageOf([5])],
    ['entries without fields', pageOf([['1-0', null]])],
    ['more than was asked for', pageOf(Array.from({ length: 65 }, () => ENTRY))],
    ['more names than are told in one step', pageOf([['1-0', ['from', 'it', 'names', Buffer.alloc(6401, 'x')]]])],
    ['names in another form', pageOf([['1-0', ['from', 'it', 'names', 5]]])],
    ['a last one without an id', ['life', 1, 'x', []]],
    ['entries without ids', pageOf([['x', ENTRY[1]]])],
    ['nothing', []],
  ] as const) {
    it(`are nothing to go by, nor the end of anything: ${what}`, async () => {
      const evictions = createEvictions({
        naming: createNaming('portico', false),
        ask: async () => ({ said: 'unavailable' }),
        events: {},
      });
      const heard: unknown[] = [];
      evictions.onEvicted((names) => heard.push(names));
      expect(await evictions.look(async () => ({ said: 'ok', more }))).to.equal(false);
      expect(heard).to.deep.equal([]);
    });
  }

  it('are heard no longer than it takes for all that are kept', async () => {
    const evictions = createEvictions({
      naming: createNaming('portico', false),
      ask: async () => ({ said: 'unavailable' }),
      events: {},
    });
    await evictions.look(async () => ({ said: 'ok', more: ['life', 0, '0-0', []] }));
    let asked = 0;
    const isHeard = await evictions.look(async () => {
      asked += 1;
      return { said: 'ok', more: ['life', 1e9, '9-0', Array(64).fill(ENTRY)] };
    });
    expect(isHeard).to.equal(false);
    expect(asked).to.be.within(160, 1000);
  });

  it('have replicas let go of everything three times at most, and once more every 20 seconds', async () => {
    let time = 0;
    const evictions = createEvictions({
      naming: createNaming('portico', false),
      ask: async () => ({ said: 'unavailable' }),
      events: {},
      clock: () => time,
    });
    const heard: unknown[] = [];
    evictions.onEvicted((names) => heard.push(names));
    const look = (life: string) => evictions.look(async () => ({ said: 'ok', more: [life, 0, '0-0', []] }));
    const looks = async (from: number, times: number) => {
      const found: unknown[] = [];
      for (let count = 0; count < times; count += 1) found.push(await look(`life ${from + count}`));
      return found;
    };
    expect(await looks(0, 6)).to.deep.equal([true, true, true, true, 'unsteady', 'unsteady']);
    expect(heard).to.deep.equal(['unknown', 'unknown', 'unknown']);
    expect(await look('life 3'), 'the one that was heard last').to.equal(true);
    time = 19_999;
    expect(await looks(6, 1)).to.deep.equal(['unsteady']);
    time = 20_000;
    expect(await looks(7, 2)).to.deep.equal([true, 'unsteady']);
    expect(heard).to.have.length(4);
    time = 100_000;
    expect(await looks(9, 4)).to.deep.equal([true, true, true, 'unsteady']);
    expect(heard).to.have.length(7);
  });
});
