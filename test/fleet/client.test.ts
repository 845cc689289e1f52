import { writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { createAuthority } from '../support/certificates.ts';
import { readDoc } from '../support/docs.ts';
import { eventually } from '../support/eventually.ts';
import { join, joined, storeLog } from '../support/fleet/fleet.ts';
import { startRedis } from '../support/fleet/redis.ts';
import { needsCommands } from '../support/tools.ts';

const TTL_MS = 60_000;

/** Below the ports that systems give to clients, also with the 10,000 more by which nodes of a cluster talk. */
const anyPort = () => `${20_000 + Math.floor(Math.random() * 2700)}`;

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
    const port = anyPort();
    const redis = await startRedis();
    const file = (name: string, text: string) => {
      writeFileSync(joinPath(redis.folder, name), text);
      return joinPath(redis.folder, name);
    };
    const settings = {
      'tls-ca-cert-file': file('ca', authority.ca),
      'tls-cert-file': file('cert', server.cert),
      'tls-key-file': file('key', server.key),
      'tls-port': port,
    };
    await redis.command('CONFIG', 'SET', ...Object.entries(settings).flat());
    const url = `rediss://127.0.0.1:${port}`;
    const identity = { ca: Buffer.from(authority.ca), cert: Buffer.from(client.cert), key: Buffer.from(client.key) };
    const tls = async () => ({ ...identity, minVersion: 'TLSv1.3' as const, servername: 'localhost' });
    const fleet = await joined(url, { tls });
    expect(await fleet.store.look('a')).to.have.property('held', undefined);
    for (const wrong of [
      async () => ({ ca: identity.ca, minVersion: 'TLSv1.3' as const }),
      async () => ({ cert: identity.cert, key: identity.key, minVersion: 'TLSv1.3' as const }),
      async () => ({ ...identity, minVersion: 'TLSv1.3' as const, servername: 'other.example' }),
      undefined,
    ]) {
      const { events, changes } = storeLog();
      const refused = join(url, { tls: wrong, events });
      await eventually(() => changes.length > 0);
      expect(changes[0]).to.be.oneOf(['unreachable', 'closed']);
      await refused.close();
    }
  });

  it('may be a cluster, over whose nodes names are spread', async () => {
    const ports = [anyPort(), anyPort(), anyPort()];
    const nodes = [];
    for (const port of ports) nodes.push(await startRedis('--port', port, '--cluster-enabled', 'yes'));
    for (const [index, node] of nodes.entries()) {
      const [first, last] = [Math.ceil((index * 16_384) / 3), Math.ceil(((index + 1) * 16_384) / 3) - 1];
      await node.command('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last}`);
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
    }
    for (const port of ports.slice(1)) await nodes[0]?.command('CLUSTER', 'MEET', '127.0.0.1', port);
    for (const node of nodes) {
      await eventually(async () => String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
    const url = `redis://127.0.0.1:${ports[0]}`;
    const { events, changes } = storeLog();
    await exercise([await joined(url, { cluster: true, events }), await joined(url, { cluster: true })]);
    const sizes = await Promise.all(nodes.map(async (node) => Number(await node.command('DBSIZE'))));
    for (const size of sizes) expect(size).to.be.greaterThan(10);
    await nodes[1]?.stop('SIGKILL');
    await eventually(() => changes.length > 1);
    expect(changes[1]).to.equal('closed');
    await nodes[1]?.start();
    await eventually(() => changes.at(-1) === 'up');
  });
});
