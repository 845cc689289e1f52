import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createRedisKeys, createRedisStore, type Lease } from '../../../src/capabilities/shared-cache/redis-store.ts';
import { type Fleet, joined, leaseOf } from '../../support/fleet/fleet.ts';
import { type Redis, startRedis } from '../../support/fleet/redis.ts';
import { needsCommands } from '../../support/tools.ts';

const TTL_MS = 60_000;
const BYTES = Buffer.from([0, 255, 13, 10, 128]);

describe('the store in Redis', () => {
  let redis: Redis;
  let one: Fleet;
  let other: Fleet;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
  });

  beforeEach(async () => {
    await redis.command('FLUSHALL');
    [one, other] = [await joined(redis.url), await joined(redis.url)];
  });

  async function put(fleet: Fleet, name: string, bytes = BYTES, ttlMs = TTL_MS): Promise<boolean> {
    return fleet.store.put(name, bytes, { lease: await leaseOf(fleet, name), ttlMs });
  }

  const storedValue = async ({ store }: Fleet, name = 'a') => (await store.get(name))?.value;

  it('returns the bytes that a replica has put to every replica, under that name alone', async () => {
    expect(await other.store.get('a')).to.deep.equal({ value: undefined });
    expect(await put(one, 'a')).to.equal(true);
    expect(await storedValue(other)).to.deep.equal(BYTES);
    expect(await storedValue(other, 'b')).to.equal(undefined);
    expect(await put(other, 'a', Buffer.from('later'))).to.equal(true);
    expect(await storedValue(one)).to.deep.equal(Buffer.from('later'));
  });

  it('is down for a value where the reply is that of another command', async () => {
    const keys = createRedisKeys('p');
    for (const reply of ['OK', 1, null, [BYTES]]) {
      const run = (async () => reply) as Parameters<typeof createRedisStore>[0]['connection']['run'];
      const store = createRedisStore({ connection: { run }, keys, maxValueBytes: 10 });
      expect(await store.get('a')).to.equal(undefined);
    }
  });

  it('releases a lease that it may have got while Redis was down', async () => {
    const ran: string[] = [];
    const run = (async (name: string) => void ran.push(name)) as Parameters<
      typeof createRedisStore
    >[0]['connection']['run'];
    const store = createRedisStore({ connection: { run }, keys: createRedisKeys('p'), maxValueBytes: 10 });
    expect(await store.lease('a', TTL_MS)).to.equal(undefined);
    expect(ran).to.deep.equal(['lease', 'release']);
  });

  it('returns at most as much of a value as can be put', async () => {
    const small = await joined(redis.url, { maxValueBytes: 4 });
    await put(one, 'a', Buffer.alloc(100));
    expect(await storedValue(small)).to.have.length(5);
  });

  it('releases a lease for its holder only', async () => {
    const lease = await leaseOf(one, 'a');
    await other.store.release('a', 'of another load' as Lease);
    expect(await other.store.lease('a', TTL_MS)).to.equal('other');
    await one.store.release('a', lease);
    expect(await leaseOf(other, 'a')).to.not.equal(lease);
  });

  it('refuses a put without the current lease: expired, used or made up', async () => {
    const expired = await leaseOf(one, 'a', 40);
    await sleep(60);
    expect(await one.store.put('a', BYTES, { lease: expired, ttlMs: TTL_MS })).to.equal(false);
    const current = await leaseOf(other, 'a');
    await one.store.release('a', expired);
    for (const lease of [expired, 'made up' as Lease]) {
      expect(await one.store.put('a', BYTES, { lease, ttlMs: TTL_MS })).to.equal(false);
    }
    expect(await storedValue(one)).to.equal(undefined);
    expect(await other.store.put('a', BYTES, { lease: current, ttlMs: TTL_MS })).to.equal(true);
    expect(await other.store.put('a', BYTES, { lease: current, ttlMs: TTL_MS }), 'used').to.equal(false);
    await leaseOf(one, 'a');
  });

  it('returns nothing, and stays up, where a key is of another type', async () => {
    await redis.command('RPUSH', 'portico:value:{a}', 'of another program');
    await redis.command('RPUSH', 'portico:lease:{a}', 'of another program');
    expect(await one.store.get('a')).to.equal(undefined);
    expect(await one.store.lease('a', TTL_MS)).to.equal('other');
    expect(await one.store.get('b')).to.deep.equal({ value: undefined });
    expect(one.isUp).to.equal(true);
  });
});

describe('counters in Redis', () => {
  let redis: Redis;

  before(async function () {
    needsCommands(this, ['redis-server']);
    redis = await startRedis();
  });

  async function keyOf(name: string): Promise<string> {
    const { counts } = await joined(redis.url);
    await redis.command('FLUSHALL');
    await counts.add(new Map([[name, 1]]), TTL_MS);
    const [key = ''] = (await redis.command('KEYS', '*')) as string[];
    return key;
  }

  it('count in windows that begin with the first unit, under names that only replicas can derive', async () => {
    const [one, other] = [(await joined(redis.url)).counts, (await joined(redis.url)).counts];
    const [first] = await one.add(new Map([[one.nameOf('203.0.113.7'), 3]]), TTL_MS);
    expect(first?.total).to.equal(3);
    // The clock of Redis goes on between two commands of its script.
    expect(first?.restMs).to.be.within(TTL_MS - 1000, TTL_MS);
    await sleep(5);
    const [counted] = await other.add(new Map([[other.nameOf('203.0.113.7'), 4]]), TTL_MS);
    expect(counted?.total).to.equal(7);
    expect(counted?.restMs).to.be.within(1, TTL_MS - 1);
    expect(String(await redis.command('KEYS', '*'))).to.match(/^portico:\{counters\}:[\w-]{43}$/);
  });

  it('have no window that ends later than one that begins now, whatever Redis holds', async () => {
    const key = await keyOf('a');
    const { counts } = await joined(redis.url);
    await redis.command('SET', key, '5', 'PX', '31536000000');
    expect(await counts.add(new Map([['a', 1]]), TTL_MS)).to.deep.equal([{ total: 6, restMs: TTL_MS }]);
    await redis.command('SET', key, '5');
    const [counted] = await counts.add(new Map([['a', 1]]), TTL_MS);
    expect(counted?.total).to.equal(6);
    expect(counted?.restMs).to.be.within(TTL_MS - 1000, TTL_MS);
    expect(await redis.command('PTTL', key)).to.be.within(1, TTL_MS);
  });
});
