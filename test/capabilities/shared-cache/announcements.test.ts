import { expect } from 'chai';
import { createDeploymentSecret } from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { eventually } from '../../support/eventually.ts';
import { type Fleet, type JoinOptions, joined, leaseOf, SECRET, storeLog } from '../../support/fleet/fleet.ts';
import { type Redis, type RedisProxy, startRedis, startRedisProxy } from '../../support/fleet/redis.ts';
import { needsCommands } from '../../support/tools.ts';

const TTL_MS = 60_000;
const STREAM = 'portico:announcements';

describe('announcements of replicas', () => {
  let redis: Redis;
  let proxy: RedisProxy;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
  });

  beforeEach(() => redis.command('FLUSHALL'));
  afterEach(() => proxy.accept());

  /** A replica, and what it receives. */
  async function replica(options: JoinOptions = {}, url = redis.url) {
    const fleet = await joined(url, options);
    const evicted: unknown[] = [];
    const rejected: string[] = [];
    fleet.announcements.onEviction((names) => evicted.push(names));
    fleet.announcements.onRejection((rejection) => rejected.push(rejection));
    return { ...fleet, fleet, evicted, rejected };
  }

  async function put(fleet: Pick<Fleet, 'store'>, name: string): Promise<boolean> {
    return fleet.store.put(name, Buffer.of(1), { lease: await leaseOf(fleet, name), ttlMs: TTL_MS });
  }

  const isStored = async ({ store }: Pick<Fleet, 'store'>, name: string) => {
    const found = await store.get(name);
    if (found === undefined) throw new Error('Redis is down');
    return found.value !== undefined;
  };

  it('of an eviction delete the value at once, end its lease, and reach every other replica', async () => {
    const [one, two, three] = [await replica(), await replica(), await replica()];
    await put(one, 'a');
    const lease = await leaseOf(two, 'b');
    one.announcements.evict(['a', 'b']);
    await eventually(async () => !(await isStored(two, 'a')));
    await eventually(() => two.evicted.length > 0 && three.evicted.length > 0);
    expect([one.evicted, two.evicted, three.evicted]).to.deep.equal([[], [['a', 'b']], [['a', 'b']]]);
    expect(await two.store.put('b', Buffer.of(1), { lease, ttlMs: TTL_MS }), 'a load that began earlier').to.equal(
      false,
    );
    expect(await put(two, 'b'), 'a load that begins later').to.equal(true);
  });

  it('of rejections reach every other replica once and in order, however many', async () => {
    const [one, two] = [await replica(), await replica()];
    const all = Array.from({ length: 250 }, (_, count) => `rejection ${count}`);
    for (const rejection of all) one.announcements.reject(rejection);
    await eventually(() => two.rejected.length >= all.length);
    two.announcements.reject('last');
    await eventually(() => one.rejected.length > 0);
    expect([one.rejected, two.rejected]).to.deep.equal([['last'], all]);
  });

  it('reach a replica that had no connection in the meantime, each of them', async () => {
    const [one, two] = [await replica({}, proxy.redisUrl), await replica()];
    two.announcements.evict(['before']);
    await eventually(() => one.evicted.length === 1);
    await proxy.refuse();
    await eventually(() => !one.fleet.isUp);
    const names = Array.from({ length: 3000 }, (_, count) => `name ${count}`);
    two.announcements.evict(names);
    await eventually(async () => Number(await redis.command('XLEN', STREAM)) > names.length / 100);
    await proxy.accept();
    await eventually(() => one.evicted.flat().length > names.length);
    expect(one.evicted.flat()).to.deep.equal(['before', ...names]);
  });

  it('of evictions are sent when Redis is up again, before anything is read from it', async () => {
    const [one, two] = [await replica({}, proxy.redisUrl), await replica()];
    await put(two, 'a');
    await proxy.refuse();
    await eventually(() => !one.fleet.isUp);
    one.announcements.evict(['a']);
    expect(await isStored(two, 'a')).to.equal(true);
    await proxy.accept();
    await eventually(() => one.fleet.isUp);
    expect(await isStored(one, 'a')).to.equal(false);
    await eventually(() => two.evicted.length === 1);
  });

  it('evict everything if more evictions are pending than can be kept', async () => {
    const [one, two] = [await replica({ maxPending: 10 }, proxy.redisUrl), await replica()];
    await proxy.refuse();
    await eventually(() => !one.fleet.isUp);
    for (let count = 0; count < 11; count += 1) one.announcements.evict([`name ${count}`]);
    one.announcements.evict(['later']);
    await proxy.accept();
    await eventually(() => two.evicted.length > 1);
    expect(two.evicted).to.deep.equal(['all', ['later']]);
  });

  it('evict everything where some may have been missed: the stream was emptied, or trimmed', async () => {
    const { events, evicted } = storeLog();
    const [one, two] = [await replica({ events }), await replica()];
    for (const [count, lose] of [
      () => redis.command('FLUSHALL'),
      () => redis.command('XTRIM', STREAM, 'MAXLEN', '0'),
    ].entries()) {
      two.announcements.evict(['a']);
      await eventually(() => one.evicted.length === 2 * count + 1);
      await lose();
      await eventually(() => one.evicted.length === 2 * count + 2);
    }
    expect(one.evicted).to.deep.equal([['a'], 'all', ['a'], 'all']);
    expect(evicted).to.deep.equal([1, 'all', 1, 'all']);
    expect(one.fleet.isUp).to.equal(true);
  });

  it('are ignored if no replica has sealed them, and counted', async () => {
    const outcomes: string[] = [];
    const events: Events = { sharedRejectionReceived: ({ outcome }) => outcomes.push(outcome) };
    const one = await replica({ events });
    const stranger = createDeploymentSecret(new Credential('of another deployment'.padEnd(32, '.')));
    const message = JSON.stringify({ from: 'x', evicted: ['a'], rejected: ['a'] });
    for (const text of [message, stranger.seal(message), `${SECRET.seal(message).slice(0, -2)}..`, '']) {
      await redis.command('XADD', STREAM, '*', 'message', text);
    }
    await redis.command('XADD', STREAM, '*', 'message', SECRET.seal(message));
    await eventually(() => one.evicted.length > 0);
    expect(outcomes).to.deep.equal(Array(4).fill('altered'));
    expect([one.evicted, one.rejected]).to.deep.equal([[['a']], ['a']]);
  });

  it('of evictions get through while memory is full, when nothing can be stored', async () => {
    const { events, changes } = storeLog();
    const refused: string[] = [];
    const sharedCommandEnded: Events['sharedCommandEnded'] = ({ command, outcome, reason }) => {
      if (outcome !== 'ok') refused.push(`${command} ${reason}`);
    };
    const [one, two] = [await replica({ events: { ...events, sharedCommandEnded } }), await replica()];
    await put(one, 'a');
    const lease = await leaseOf(one, 'b');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    try {
      const leases = await Promise.all(Array.from({ length: 20 }, () => one.store.lease('c', TTL_MS)));
      expect(new Set(leases)).to.deep.equal(new Set([undefined]));
      expect(await one.store.put('b', Buffer.of(2), { lease, ttlMs: TTL_MS })).to.equal(false);
      expect(await isStored(two, 'a')).to.equal(true);
      one.announcements.evict(['a']);
      await eventually(() => two.evicted.length > 0);
      expect(two.evicted).to.deep.equal([['a']]);
      expect(await isStored(two, 'a')).to.equal(false);
      expect(changes).to.deep.equal(['up']);
      expect(refused).to.include('lease full');
    } finally {
      await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    }
  });

  it('take up no more room for names that were evicted, however many', async () => {
    const one = await replica();
    for (let step = 0; step < 20; step += 1) {
      one.announcements.evict(Array.from({ length: 100 }, (_, count) => `${step}-${count} made up`));
    }
    await eventually(async () => Number(await redis.command('XLEN', STREAM)) >= 20);
    expect(await redis.command('KEYS', '*')).to.deep.equal([STREAM]);
  });
});
