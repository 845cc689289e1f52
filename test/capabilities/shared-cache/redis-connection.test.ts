import { expect } from 'chai';
import { createRedisClient } from '../../../src/capabilities/shared-cache/redis-client.ts';
import { createAuthority } from '../../support/certificates.ts';
import { readDoc } from '../../support/docs.ts';
import { eventually } from '../../support/eventually.ts';
import { type Fleet, join, joined, storeLog } from '../../support/fleet/join.ts';
import {
  AS_IT_IS,
  late,
  listenForTls,
  type Redis,
  type RedisProxy,
  STALLED,
  startRedis,
  startRedisProxy,
} from '../../support/fleet/redis.ts';
import { freePort } from '../../support/listening.ts';
import { porticoEnvironment, startProcess } from '../../support/process/process.ts';
import { needsCommands } from '../../support/tools.ts';

const TTL_MS = 60_000;

async function exercise(one: Fleet, other: Fleet): Promise<void> {
  const names = Array.from({ length: 100 }, (_, count) => `name ${count}`);
  for (const name of names) {
    await one.set(name, name);
    expect(String(await other.get(name))).to.equal(name);
    await one.remove(name);
    expect(String(await other.get(name))).to.equal('');
  }
  // The channel may be received a moment after the connection is ready.
  await eventually(async () => {
    await one.publish('evicted');
    return other.messages.includes('evicted');
  });
  const units = new Map(names.map((name) => [name, 2]));
  await one.counts.add(units, TTL_MS);
  expect((await other.counts.add(units, TTL_MS)).map((counted) => counted?.total)).to.deep.equal(names.map(() => 4));
}

describe('the connection to Redis', () => {
  let redis: Redis;
  let proxy: RedisProxy;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
  });

  it('bounds each command, and stops sending commands to a Redis that answers late', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(proxy.redisUrl, { events, timeoutMs: 500 });
    proxy.treat(late(1500));
    const startedAt = performance.now();
    expect(await fleet.get('a')).to.equal(undefined);
    expect(performance.now() - startedAt).to.be.within(490, 1400);
    await Promise.all(Array.from({ length: 10 }, () => fleet.get('a')));
    expect(fleet.isUp).to.equal(false);
    const stoppedAt = performance.now();
    expect(await fleet.get('a')).to.equal(undefined);
    expect(performance.now() - stoppedAt).to.be.below(100);
    proxy.treat(AS_IT_IS);
    await eventually(async () => (await fleet.get('a')) !== undefined);
    expect([...changes.slice(0, 2), changes.at(-1)]).to.deep.equal(['up', 'timeout', 'up']);
  });

  it('reconnects by itself to a Redis that resets connections, or is started again', async () => {
    const { events, changes } = storeLog();
    const fleet = await joined(proxy.redisUrl, { events });
    for (let times = 0; times < 3; times += 1) {
      proxy.reset();
      await eventually(async () => (await fleet.set('a', 'b')) !== undefined);
    }
    await redis.stop('SIGKILL');
    await eventually(() => !fleet.isUp);
    await redis.start();
    await eventually(() => fleet.isUp);
    expect(new Set(changes)).to.include('up');
  });

  it('is closed at once, whatever Redis does', async () => {
    const stalled = await joined(proxy.redisUrl, { timeoutMs: 200 });
    proxy.treat(STALLED);
    const reading = stalled.get('a');
    await stalled.close();
    expect(await reading).to.equal(undefined);
    await eventually(() => proxy.open() === 0);
    expect(await stalled.get('a')).to.equal(undefined);
    await join('redis://127.0.0.1:1').close();
  });

  it('is not opened by a client that is destroyed while it connects', async () => {
    const seen: string[] = [];
    const client = createRedisClient({
      ...{ url: proxy.redisUrl, cluster: false, connectTimeoutMs: 1000, user: async () => ({}) },
      ...{ onReady: () => seen.push('ready'), onError: ({ message }) => seen.push(message) },
    });
    const connections = proxy.connections();
    client.connect('channel', () => {}).catch(() => {});
    client.destroy();
    await eventually(() => proxy.connections() > connections && proxy.open() === 0);
    expect(seen).to.deep.equal([]);
  });

  it('keeps the process until it is closed, even if Redis goes away meanwhile', async () => {
    const module = new URL('../../../src/capabilities/shared-cache/redis-connection.ts', import.meta.url);
    const program = `
      import { once } from 'node:events';
      import { createRedisConnection } from '${module}';
      const connection = createRedisConnection({
        ...{ url: '${proxy.redisUrl}', cluster: false, timeoutMs: 500, connectTimeoutMs: 5000, channel: 'c' },
        events: { sharedStoreChanged: ({ isUp }) => isUp && console.log('up') },
        ...{ user: async () => ({}), onMessage() {} },
      });
      void connection.open();
      await once(process.stdin, 'data');
      void connection.run('get', (redis) => redis.get('a', 1));
      const closing = connection.close();
      console.log('closing');
      await closing;
      console.log('closed');`;
    const child = startProcess(process.execPath, ['--input-type=module', '-e', program], {
      env: porticoEnvironment(),
      stdin: 'open',
    });
    await eventually(() => child.stdout().includes('up'));
    proxy.treat(STALLED);
    child.child.stdin.end('close');
    await eventually(() => child.stdout().includes('closing'));
    proxy.reset();
    const { code, stdout, stderr } = await child.ended;
    expect({ code, stderr, last: stdout.trim().split('\n').at(-1) }).to.deep.equal({
      code: 0,
      stderr: '',
      last: 'closed',
    });
  });

  it('needs no more permissions than docs/deployment.md lists', async () => {
    const [, rules = ''] = /^ *user portico (.+)$/m.exec(readDoc('docs/deployment.md')) ?? [];
    await redis.command('ACL', 'SETUSER', 'portico', ...rules.split(' '));
    const user = async () => ({ username: 'portico', password: 'password' });
    const { events, changes } = storeLog();
    await exercise(await joined(redis.url, { user, events }), await joined(redis.url, { user }));
    expect(changes).to.deep.equal(['up']);
    expect(await redis.command('ACL', 'LOG'), 'denied commands').to.deep.equal([]);
    const denied = storeLog();
    const foreign = join(redis.url, { user, events: denied.events, prefix: 'other' });
    await eventually(() => denied.changes.length > 0);
    expect(await foreign.get('a')).to.equal(undefined);
    expect([denied.changes, foreign.isUp]).to.deep.equal([['NOPERM'], false]);
    const wrong = storeLog();
    join(redis.url, { user: async () => ({ username: 'portico', password: 'wrong' }), events: wrong.events });
    await eventually(() => wrong.changes.length === 1);
    expect(wrong.changes).to.deep.equal(['WRONGPASS']);
  });

  it('uses the password that its file has now for the next connection', async () => {
    await redis.command('ACL', 'SETUSER', 'portico', 'on', '>one', '~*', '&*', '+@all');
    let password = 'one';
    const { events, changes } = storeLog();
    const fleet = await joined(proxy.redisUrl, { user: async () => ({ username: 'portico', password }), events });
    await redis.command('ACL', 'SETUSER', 'portico', '<one', '>two');
    expect(String(await fleet.get('a')), 'the connection stays').to.equal('');
    proxy.reset();
    await eventually(() => changes.includes('WRONGPASS'));
    password = 'two';
    await eventually(() => fleet.isUp);
  });

  it('can require TLS with a certificate, and is replaced when the files change', async () => {
    const [authority, other] = [await createAuthority(), await createAuthority()];
    const [server, own] = [await authority.issue(), await authority.issue()];
    const url = `rediss://127.0.0.1:${await listenForTls(redis, { ca: authority.ca, ...server })}`;
    const servername = 'localhost';
    const identity = { ca: Buffer.from(authority.ca), cert: Buffer.from(own.cert), key: Buffer.from(own.key) };
    for (const [wrong, name] of [
      [{ ca: identity.ca }, servername],
      [{}, servername],
      [identity, 'other.example'],
    ] as const) {
      const { events, changes } = storeLog();
      const refused = join(url, { tls: async () => wrong, servername: name, events });
      await eventually(() => changes.length > 0);
      // Without a certificate the connection may be closed before the alert is read.
      const closed = ['disconnected', 'ECONNRESET', 'EPIPE'];
      expect(changes[0]).to.match(/^[A-Z][A-Z_0-9]+$|^disconnected$/);
      if ('cert' in wrong || !('ca' in wrong)) expect(changes[0]).to.not.be.oneOf(closed);
      await refused.close();
    }
    const { events, changes } = storeLog();
    let held = identity;
    const fleet = await joined(url, { tls: async () => held, servername, events });
    held = { ...held, ca: Buffer.from(other.ca) };
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => changes.some((change) => change.includes('CERT')));
    held = identity;
    await eventually(() => fleet.isUp);
  });

  it('can lead to a cluster, over whose nodes names are spread', async () => {
    const ports = [];
    for (let count = 0; count < 3; count += 1) ports.push({ port: await freePort(), bus: await freePort() });
    const url = `redis://127.0.0.1:${ports[0]?.port}`;
    // No node of it is up yet.
    const early = join(url, { cluster: true });
    const nodes = await Promise.all(
      ports.map(({ port, bus }) =>
        startRedis('--port', `${port}`, '--cluster-enabled', 'yes', '--cluster-port', `${bus}`),
      ),
    );
    for (const [index, node] of nodes.entries()) {
      const [first, last] = [Math.ceil((index * 16_384) / 3), Math.ceil(((index + 1) * 16_384) / 3) - 1];
      await node.command('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last}`);
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
    }
    const [first] = nodes;
    for (const { port, bus } of ports.slice(1)) {
      await first?.command('CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${bus}`);
    }
    for (const node of nodes) {
      await eventually(async () => String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
    await eventually(() => early.isUp);
    const one = await joined(url, { cluster: true });
    await exercise(one, await joined(url, { cluster: true }));
    for (let count = 0; count < 100; count += 1) await one.set(`name ${count}`, 'x');
    for (const node of nodes) expect(Number(await node.command('DBSIZE'))).to.be.greaterThan(10);
    const [{ events, changes }, user] = [storeLog(), async () => ({ password: 'wrong' })];
    await first?.command('CONFIG', 'SET', 'requirepass', 'secret');
    join(url, { cluster: true, events, user });
    await eventually(() => changes.length > 0);
    expect(changes).to.deep.equal(['WRONGPASS']);
  }).timeout(60_000);
});
