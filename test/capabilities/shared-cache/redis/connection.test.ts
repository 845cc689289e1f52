import { createServer } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { aWhile } from '../../../support/a-while.ts';
import { eventually } from '../../../support/eventually.ts';
import { join, joined, storeLog } from '../../../support/fleet/fleet.ts';
import {
  AS_IT_IS,
  late,
  type Redis,
  type RedisProxy,
  STALLED,
  startRedis,
  startRedisProxy,
} from '../../../support/fleet/redis.ts';
import { listen } from '../../../support/listening.ts';
import { needsCommands } from '../../../support/tools.ts';

const TTL_MS = 60_000;

describe('the connection to Redis', () => {
  let redis: Redis;
  let proxy: RedisProxy;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  afterEach(() => mock.restoreAll());

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
  });

  it('is had in the background, once somebody listens there', async () => {
    await proxy.refuse();
    const { events, changes, errors } = storeLog();
    const fleet = join(proxy.redisUrl, { events });
    await eventually(() => changes.length > 0);
    expect(errors).to.deep.equal(['ECONNREFUSED']);
    expect(await fleet.store.look('a')).to.equal(undefined);
    expect(await fleet.store.lease('a', TTL_MS)).to.equal(undefined);
    expect(await fleet.store.put('a', Buffer.of(1), { generation: '', ttlMs: TTL_MS })).to.equal(false);
    await fleet.store.release('a', 'token');
    await proxy.accept();
    await eventually(() => fleet.isUp);
    expect(await fleet.store.look('a')).to.have.property('held', undefined);
    expect(changes).to.deep.equal(['unreachable', 'up']);
  });

  it('is had again after a reset, and after Redis was started anew', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(proxy.redisUrl, { events });
    proxy.reset();
    await eventually(() => changes.length === 3);
    await redis.stop('SIGKILL');
    await eventually(() => !fleet.isUp);
    expect(await fleet.store.look('a')).to.equal(undefined);
    await redis.start();
    await eventually(() => fleet.isUp);
    expect(changes.slice(0, 4)).to.deep.equal(['up', 'closed', 'up', 'closed']);
    expect(changes.at(-1)).to.equal('up');
  });

  it('answers in time while Redis says nothing, is replaced then, and comes back by itself', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(proxy.redisUrl, { events, timeoutMs: 100 });
    const before = proxy.connections();
    proxy.treat(STALLED);
    const begun = performance.now();
    expect(await fleet.store.look('a')).to.equal(undefined);
    expect(performance.now() - begun).to.be.greaterThan(90);
    await eventually(() => changes.includes('stalled'));
    await eventually(() => proxy.connections() > before + 1);
    expect(await fleet.store.look('a')).to.equal(undefined);
    proxy.treat(AS_IT_IS);
    await eventually(() => fleet.isUp);
    expect(await fleet.store.look('a')).to.have.property('held', undefined);
  });

  it('leaves a Redis alone that answers late, and looks itself whether it is in time again', async () => {
    const { events, changes } = storeLog();
    const asked: string[] = [];
    const fleet = await joined(proxy.redisUrl, {
      events: { ...events, sharedStoreAsked: ({ what, outcome }) => asked.push(`${what} ${outcome}`) },
      timeoutMs: 400,
    });
    // Redis knows the script then: it takes one round trip.
    await fleet.store.look('a');
    proxy.treat(late(1000));
    while (fleet.isUp) await fleet.store.look('a');
    expect(changes.splice(0).slice(-2)).to.deep.equal(['up', 'failing']);
    expect(asked).to.include('look timeout');
    asked.length = 0;
    expect(await fleet.store.look('a')).to.equal(undefined);
    expect(asked).to.deep.equal([]);
    proxy.treat(AS_IT_IS);
    await eventually(() => fleet.isUp);
    // Late once more, or a late reply behind one in time: whatever it was lost for, it was not up in between.
    expect(changes.slice(0, -1)).not.to.include('up');
    expect(changes.at(-1)).to.equal('up');
  });

  for (const [what, bytes] of [
    ['what is no reply', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['a reply too many', '+OK\r\n'],
    ['the reply of another command', '*2\r\n$1\r\n0\r\n$2\r\nok\r\n'],
    ['a reply in another form', ':1\r\n'],
    ['an array with more room than there is', '*2147483647\r\n'],
    ['arrays that take much room before anything is in them', '*1000000\r\n'.repeat(10)],
    ['a value with no end in sight', '$1000000000\r\n'],
    ['a reply of another version', '%1\r\n+a\r\n+b\r\n'],
  ] as const) {
    it(`takes nothing from a connection that brings ${what}, and opens another`, async () => {
      const { events, changes } = storeLog();
      const fleet = await joined(proxy.redisUrl, { events });
      const { generation = '' } = (await fleet.store.look('a')) ?? {};
      await fleet.store.put('a', Buffer.of(1), { generation, ttlMs: TTL_MS });
      const before = proxy.connections();
      let isFirst = true;
      proxy.treat((reply, say) => {
        say(isFirst ? Buffer.concat([Buffer.from(bytes), reply]) : reply);
        isFirst = false;
      });
      const looks = await Promise.all(['a', 'b', 'a'].map((name) => fleet.store.look(name)));
      expect(looks).to.deep.equal([undefined, undefined, undefined]);
      await eventually(() => fleet.isUp && proxy.connections() > before);
      expect((await fleet.store.look('a'))?.held).to.deep.equal(Buffer.of(1));
      expect(changes[0]).to.equal('up');
      expect(changes[1]).to.equal('out_of_step');
    });
  }

  it('has no more under way than it may, in number and in bytes', async () => {
    const fleet = await joined(proxy.redisUrl, { maxInFlight: 3, maxInFlightBytes: 2000 });
    const outcomes: unknown[] = [];
    proxy.treat(STALLED);
    const looks = Array.from({ length: 5 }, () => fleet.store.look('a'));
    for (const look of looks) void look.then((found) => outcomes.push(found));
    await aWhile(20);
    // Those beyond the bound, and one more where the connection was being looked after.
    expect(outcomes.length).to.be.within(2, 3);
    proxy.reset();
    proxy.treat(AS_IT_IS);
    await Promise.all(looks);
    await eventually(() => fleet.isUp);
    const { generation = '' } = (await fleet.store.look('a')) ?? {};
    expect(await fleet.store.put('a', Buffer.alloc(3000), { generation, ttlMs: TTL_MS })).to.equal(false);
    expect(await fleet.store.put('a', Buffer.alloc(100), { generation, ttlMs: TTL_MS })).to.equal(true);
  });

  it('is not had of whoever answers the handshake with no reply', async () => {
    const other = await listen(createServer((socket) => socket.on('error', () => {}).end('*1000000\r\n'.repeat(10))));
    const { events, changes } = storeLog();
    const user = async () => ({ username: 'a', password: 'b' });
    join(`redis://127.0.0.1:${other.port}`, { events, user });
    await eventually(() => changes.length > 0);
    expect(changes).to.deep.equal(['out_of_step']);
  });

  it('is not had of a cluster that says it has more slots than there are', async () => {
    const node = '*2\r\n$9\r\n127.0.0.1\r\n:6379\r\n';
    const slots = Buffer.from(`*1\r\n*3\r\n:0\r\n:2000000000\r\n${node}`);
    const other = await listen(
      createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(slots))),
    );
    const { events, changes } = storeLog();
    join(`redis://127.0.0.1:${other.port}`, { events, cluster: true });
    await eventually(() => changes.length > 0);
    expect(changes[0]).to.be.oneOf(['out_of_step', 'unreachable']);
  });

  it('leaves alone what other clients of the process are sent', async () => {
    await joined(redis.url);
    await redis.command('EVAL', "for n = 1, 70000 do redis.call('SET', n, 1) end", '0');
    expect(await redis.command('KEYS', '*')).to.have.lengthOf.above(70_000);
  });

  it('tells what is wrong where Redis does not know it', async () => {
    await redis.command('CONFIG', 'SET', 'requirepass', 'secret');
    const { events, changes } = storeLog();
    let password = 'wrong';
    const fleet = join(proxy.redisUrl, { events, user: async () => ({ username: 'default', password }) });
    await eventually(() => changes.length > 0);
    expect(changes).to.deep.equal(['credential']);
    password = 'secret';
    await eventually(() => fleet.isUp);
  });

  it('tells so where it brings no password', async () => {
    await redis.command('CONFIG', 'SET', 'requirepass', 'secret');
    const { events, changes } = storeLog();
    join(proxy.redisUrl, { events });
    await eventually(() => changes.length > 0);
    expect(changes).to.deep.equal(['credential']);
  });

  it('is asked without a timer of the client for each call, and leaves none behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const timeouts = mock.method(AbortSignal, 'timeout');
    const [begun, ended] = [mock.method(globalThis, 'setTimeout'), mock.method(globalThis, 'clearTimeout')];
    const fleet = await joined(redis.url, { connectTimeoutMs: 86_400_000, timeoutMs: 86_400_000 });
    await fleet.store.look('a');
    expect(timeouts.mock.callCount()).to.equal(0);
    // By then one is for the next look, or for one that is under way.
    await new Promise((resolve) => setImmediate(resolve));
    const open = timers();
    await fleet.close();
    await eventually(() => timers() < open);
    const long = begun.mock.calls.flatMap(({ arguments: [, ms], result }) => (ms === 86_400_000 ? [result] : []));
    expect(long).to.have.length.above(1);
    expect(ended.mock.calls.map(({ arguments: [timer] }) => timer)).to.include.members(long);
  });

  it('gives up a handshake that nobody answers', async () => {
    const silent = await listen(createServer((socket) => socket.resume()));
    const { events, changes } = storeLog();
    const fleet = join(`redis://127.0.0.1:${silent.port}`, {
      events,
      connectTimeoutMs: 50,
      user: async () => ({ username: 'a', password: 'b' }),
    });
    await eventually(() => silent.connections() > 1);
    expect(changes).to.deep.equal(['unreachable']);
    await fleet.close();
    await eventually(() => silent.open() === 0);
  });

  it('takes nothing from a replica: it may not know yet what was evicted', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(redis.url, { events });
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    expect(await fleet.store.look('a')).to.equal(undefined);
    await eventually(() => changes.includes('replica'));
    await redis.command('REPLICAOF', 'NO', 'ONE');
    await eventually(() => fleet.isUp);
    expect(await fleet.store.look('a')).to.have.property('held', undefined);
  });

  it('goes on where memory is full: what is put is refused, what is there is taken, what must go goes', async () => {
    const { events, changes } = storeLog();
    const [fleet, other] = [await joined(redis.url, { events }), await joined(redis.url)];
    const heard: unknown[] = [];
    other.store.onEvicted((names) => heard.push(names));
    const { generation = '' } = (await fleet.store.look('a')) ?? {};
    expect(await fleet.store.put('a', Buffer.of(1), { generation, ttlMs: TTL_MS })).to.equal(true);
    const lease = await fleet.store.lease('b', TTL_MS);
    if (typeof lease !== 'object') throw new Error('no lease');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await fleet.store.put('a', Buffer.of(2), { generation, ttlMs: TTL_MS })).to.equal(false);
    expect(await fleet.store.lease('c', TTL_MS)).to.equal(undefined);
    expect((await fleet.store.look('a'))?.held).to.deep.equal(Buffer.of(1));
    expect(await fleet.store.put('b', Buffer.of(2), { generation, lease: lease.token, ttlMs: TTL_MS })).to.equal(false);
    await fleet.store.release('b', lease.token);
    expect(await redis.command('KEYS', '*lease*'), 'the lease of what could not be put').to.deep.equal([]);
    await fleet.store.evict(['a']);
    expect((await other.store.look('a'))?.held).to.equal(undefined);
    await eventually(() => heard.length === 1);
    expect(heard).to.deep.equal([['a']]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(await fleet.store.put('a', Buffer.of(2), { generation, ttlMs: TTL_MS })).to.equal(false);
    expect(changes).to.deep.equal(['up']);
  });

  it('takes what stands there in another kind for nothing', async () => {
    const fleet = await joined(redis.url);
    await redis.command('SET', 'portico:{0}:value:a', 'of somebody else');
    await redis.command('RPUSH', 'portico:{0}:lease:a', 'of somebody else');
    expect(await fleet.store.look('a')).to.equal(undefined);
    await fleet.store.release('a', 'token');
    expect(await fleet.store.look('b')).to.have.property('held', undefined);
    expect(fleet.isUp).to.equal(true);
  });

  it('is not used where evictions cannot be heard for a second, whatever else there is', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(redis.url, { events });
    await redis.command('SET', 'portico:{0}:evictions', 'of somebody else');
    await eventually(() => !fleet.isUp);
    expect(changes).to.deep.equal(['up', 'failing']);
    await redis.command('DEL', 'portico:{0}:evictions');
    await eventually(() => fleet.isUp);
  });

  it('is closed at once, whatever Redis does', async () => {
    const fleet = await joined(proxy.redisUrl, { timeoutMs: 200 });
    proxy.treat(STALLED);
    const looking = fleet.store.look('a');
    await fleet.close();
    expect(await looking).to.equal(undefined);
    await eventually(() => proxy.open() === 0);
    expect(await fleet.store.look('a')).to.equal(undefined);
    const away = join('redis://127.0.0.1:1');
    await away.close();
  });
});
