import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { createAuthority } from '../../../support/certificates.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { readDoc } from '../../../support/docs.ts';
import { eventually } from '../../../support/eventually.ts';
import { join, joined, storeLog } from '../../../support/fleet/fleet.ts';
import { listenForTls, type Redis, startRedis } from '../../../support/fleet/redis.ts';
import { freePort, listen } from '../../../support/listening.ts';
import { needsCommands } from '../../../support/tools.ts';

const TTL_MS = 60_000;

/** Starts a node of a cluster on its ports: for clients, and for other nodes. */
function startNode({ port, bus }: { readonly port: number; readonly bus: number }): Promise<Redis> {
  return startRedis('--port', `${port}`, '--cluster-enabled', 'yes', '--cluster-port', `${bus}`);
}

/** Does each thing once that is done with a store. */
async function exercise(fleets: readonly Awaited<ReturnType<typeof joined>>[]): Promise<void> {
  const [one, other] = fleets;
  if (one === undefined || other === undefined) throw new Error('two are needed');
  const heard: string[] = [];
  other.store.onEvicted((names) => heard.push(...names));
  const names = Array.from({ length: 200 }, (_, count) => `${'abcdefgh'[count % 8]}${'xyz'[count % 3]}-${count}`);
  for (const name of names) {
    const { generation = '' } = (await one.store.look(name)) ?? {};
    const lease = await one.store.lease(name, TTL_MS);
    if (typeof lease !== 'object') throw new Error(`no lease: ${lease}`);
    const put = await one.store.put(name, Buffer.from(name), { generation, lease: lease.token, ttlMs: TTL_MS });
    expect(put, name).to.equal(true);
    expect(String((await other.store.look(name))?.held)).to.equal(name);
  }
  await one.store.evict(names);
  for (const name of names) expect((await other.store.look(name))?.held, name).to.equal(undefined);
  await eventually(() => heard.length >= names.length);
  expect(heard.sort()).to.deep.equal(names.sort());
  const units = new Map(names.map((name) => [name, 2]));
  await one.counts.add(units, TTL_MS);
  expect((await other.counts.add(units, TTL_MS)).map((counted) => counted?.total)).to.deep.equal(names.map(() => 4));
}

describe('the Redis that replicas share', () => {
  before(function () {
    needsCommands(this, ['redis-server']);
  });

  it('may let its user do no more than docs/fleet.md says', async () => {
    const redis = await startRedis();
    const [, rules = ''] = /^ *user portico (.+)$/m.exec(readDoc('docs/fleet.md')) ?? [];
    await redis.command('ACL', 'SETUSER', 'portico', ...rules.split(' '));
    const user = async () => ({ username: 'portico', password: 'password' });
    const { events, changes } = storeLog();
    await exercise([await joined(redis.url, { user, events }), await joined(redis.url, { user })]);
    expect(changes).to.deep.equal(['up']);
    const clients = String(await redis.command('CLIENT', 'LIST')).split('\n');
    const own = clients.filter((client) => client.includes(' user=portico '));
    expect(own).to.have.length(2);
    for (const client of own)
      expect(client)
        .to.contain(' resp=2')
        .and.not.to.match(/lib-name=\S/);
    expect(await redis.command('ACL', 'LOG'), 'what it tried in vain').to.deep.equal([]);
    const elsewhere = join(redis.url, { user, events, prefix: 'other' });
    await eventually(() => changes.length === 2);
    expect(changes[1]).to.equal('credential');
    await elsewhere.close();
  });

  it('may be spoken to over TLS, and believe nobody without a certificate', async () => {
    const authority = await createAuthority();
    const [server, client] = [await authority.issue(), await authority.issue()];
    const redis = await startRedis();
    const port = await listenForTls(redis, { ca: authority.ca, ...server });
    const url = `rediss://127.0.0.1:${port}`;
    const identity = { ca: Buffer.from(authority.ca), cert: Buffer.from(client.cert), key: Buffer.from(client.key) };
    const tls = async () => ({ ...identity, minVersion: 'TLSv1.3' as const, servername: 'localhost' });
    const fleet = await joined(url, { tls });
    expect(await fleet.store.look('a')).to.have.property('held', undefined);
    const nobody = async () => ({ ca: identity.ca, minVersion: 'TLSv1.3' as const, servername: 'localhost' });
    for (const wrong of [
      nobody,
      async () => ({ cert: identity.cert, key: identity.key, minVersion: 'TLSv1.3' as const }),
      async () => ({ ...identity, minVersion: 'TLSv1.3' as const, servername: 'other.example' }),
      undefined,
    ]) {
      const { events, changes } = storeLog();
      const refused = join(url, { tls: wrong, events });
      await eventually(() => changes.length > 0);
      // Whoever shows no certificate may be hung up on before it has read why.
      expect(changes[0]).to.be.oneOf(wrong === nobody ? ['tls', 'closed'] : ['tls']);
      await refused.close();
    }
  });

  it('is not spoken to any more over what was opened with certificates that files do not hold now', async () => {
    const [authority, other] = [await createAuthority(), await createAuthority()];
    const redis = await startRedis();
    const port = await listenForTls(redis, { ca: authority.ca, ...(await authority.issue()) }, 'optional');
    const { events, changes, errors } = storeLog();
    let held: { ca: Buffer; cert?: Buffer; key?: Buffer } = { ca: Buffer.from(authority.ca) };
    const tls = async () => ({ ...held, minVersion: 'TLSv1.2' as const });
    const fleet = await joined(`rediss://localhost:${port}`, { tls, events });
    const own = await authority.issue();
    held = { ...held, cert: Buffer.from(own.cert), key: Buffer.from(own.key) };
    await eventually(() => fleet.isUp && changes.length === 3);
    expect(changes).to.deep.equal(['up', 'renewed', 'up']);
    held = { ca: Buffer.from(other.ca) };
    await eventually(() => changes.length === 5);
    expect(changes.slice(3)).to.deep.equal(['renewed', 'tls']);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^(CERT|UNABLE_TO)_[A-Z_]+$/);
    held = { ca: Buffer.from(authority.ca) };
    await eventually(() => fleet.isUp);
  });

  it('may be a cluster, over whose nodes names are spread', async () => {
    const ports = [];
    for (let count = 0; count < 3; count += 1) ports.push({ port: await freePort(), bus: await freePort() });
    const nodes = await Promise.all(ports.map(startNode));
    for (const [index, node] of nodes.entries()) {
      const [first, last] = [Math.ceil((index * 16_384) / 3), Math.ceil(((index + 1) * 16_384) / 3) - 1];
      await node.command('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last}`);
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
    }
    for (const { port, bus } of ports.slice(1))
      await nodes[0]?.command('CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${bus}`);
    for (const node of nodes) {
      await eventually(async () => String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
    const url = `redis://127.0.0.1:${ports[0]?.port}`;
    const { events, changes } = storeLog();
    await exercise([await joined(url, { cluster: true, events }), await joined(url, { cluster: true })]);
    const sizes = await Promise.all(nodes.map(async (node) => Number(await node.command('DBSIZE'))));
    for (const size of sizes) expect(size).to.be.greaterThan(10);
    for (const { port } of ports.slice(0, 2)) {
      // The third one has what is asked for first.
      const alone = storeLog();
      join(`redis://127.0.0.1:${port}`, { events: alone.events });
      await eventually(() => alone.changes.length > 0);
      expect([alone.changes, alone.errors]).to.deep.equal([['failing'], ['MOVED']]);
    }
    await nodes[1]?.stop('SIGKILL');
    await eventually(() => changes.length > 1);
    expect(changes[1]).to.equal('closed');
    await nodes[1]?.start();
    await eventually(() => changes.at(-1) === 'up');
  });

  it('may be a cluster that says why it does not know a replica', async () => {
    const port = await freePort();
    const redis = await startNode({ port, bus: await freePort() });
    await redis.command('CONFIG', 'SET', 'requirepass', 'secret');
    const { events, changes, errors } = storeLog();
    const user = async () => ({ password: 'wrong' });
    join(`redis://127.0.0.1:${port}`, { cluster: true, events, user });
    await eventually(() => changes.length > 0);
    expect([changes, errors]).to.deep.equal([['credential'], ['WRONGPASS']]);
  });

  it('may name no more nodes of a cluster than replicas open connections to, of which none stays open', async () => {
    const sockets = new Set();
    let accepted = 0;
    const nodes = createServer((socket) => {
      accepted += 1;
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    onCleanup(() => nodes.close());
    // Each node has an address of its own.
    nodes.listen(0, '0.0.0.0');
    await once(nodes, 'listening');
    const { port } = nodes.address() as AddressInfo;
    const ranges = Array.from({ length: 1000 }, (_, at) => {
      const host = `127.0.${at >> 8}.${at & 255}`;
      return `*3\r\n:${at}\r\n:${at}\r\n*2\r\n$${host.length}\r\n${host}\r\n:${port}\r\n`;
    });
    const slots = Buffer.from(`*1000\r\n${ranges.join('')}`);
    const evil = await listen(
      createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(slots))),
    );
    const { events, changes } = storeLog();
    const fleet = join(`redis://127.0.0.1:${evil.port}`, { cluster: true, events });
    await eventually(() => evil.connections() > 2);
    expect(changes).to.deep.equal(['out_of_step']);
    expect(accepted).to.be.within(1, 128 * evil.connections());
    await fleet.close();
    await eventually(() => sockets.size === 0 && evil.open() === 0);
  });

  it('may be a cluster that says nothing: no connection stays open', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => {}).resume()));
    const { events, changes } = storeLog();
    const fleet = join(`redis://127.0.0.1:${silent.port}`, { cluster: true, connectTimeoutMs: 50, events });
    await eventually(() => silent.connections() > 2);
    expect(changes).to.deep.equal(['unreachable']);
    await fleet.close();
    await eventually(() => silent.open() === 0);
  });
});
