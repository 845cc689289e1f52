import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import { eventually } from '../../support/eventually.ts';
import { type Redis, type RedisProxy, startRedis, startRedisProxy } from '../../support/fleet/redis.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { needsCommands } from '../../support/tools.ts';

describe('a gateway with a shared cache', () => {
  let redis: Redis;
  let proxy: RedisProxy;
  let platform: HttpUpstream;
  let settings: TestSettings;
  /** Long enough for a busy machine. */
  const timeoutMs = 5000;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
    platform = await startHttpUpstream(lists({ tools: [{ id: 'a', name: 'A' }] }));
    const keySecretFile = join(redis.folder, 'secret');
    writeFileSync(keySecretFile, 'k'.repeat(32));
    settings = settingsFor(platform.url, {
      admin: { port: 0 },
      shared: { url: proxy.redisUrl, keySecretFile, timeoutMs },
    });
  });

  async function status(adminUrl: string | undefined): Promise<Status> {
    return (await (await fetch(`${adminUrl}/status`)).json()) as Status;
  }

  const metricsOf = async ({ gateway }: RunningGateway) => (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const isUp = ({ gateway }: RunningGateway) => eventually(async () => (await status(gateway.adminUrl)).shared?.isUp);
  const stored = () => eventually(async () => ((await redis.command('KEYS', '*:list:*')) as unknown[]).length === 1);

  it('starts, is ready and reads while Redis is unreachable, and reports that', async () => {
    await proxy.refuse();
    const running = await startGateway(settings);
    const { gateway, url, read } = running;
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    expect((await read('tools')).status).to.equal(200);
    const { shared } = await eventually(async () => {
      const now = await status(gateway.adminUrl);
      return now.changes.some(({ text, why }) => text === 'Redis: unreachable' && why === 'ECONNREFUSED') && now;
    });
    expect(shared).to.include({ isUp: false });
    expect(await metricsOf(running)).to.contain('portico_shared_up 0');
    await proxy.accept();
    await isUp(running);
    expect(await metricsOf(running)).to.contain('portico_shared_up 1');
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
  });

  async function pair(more: Partial<TestSettings> = {}) {
    const replicas = [
      await startGateway({ ...settings, ...more }),
      await startGateway({ ...settings, ...more }),
    ] as const;
    for (const replica of replicas) await isUp(replica);
    return replicas;
  }

  it('serves what another replica has loaded for the same caller, and for no other', async () => {
    const [one, other] = await pair();
    expect((await one.read('tools')).headers.get('cache-status')).to.contain('fwd=miss');
    await stored();
    const second = await other.read('tools');
    expect(second.headers.get('cache-status')).to.contain('detail=shared');
    expect(await second.json()).to.deep.equal(await (await one.read('tools')).json());
    expect(platform.requests).to.have.length(1);
    const foreign = await other.read('tools', { headers: { authorization: 'Bearer another' } });
    expect(foreign.headers.get('cache-status')).to.contain('fwd=miss');
    expect(platform.requests).to.have.length(2);
    const commands = 'portico_shared_command_duration_seconds_count{command="get",outcome="ok"} 2';
    expect(await metricsOf(other))
      .to.contain('portico_shared_cache_lookups_total{resource="tools",outcome="hit"} 1')
      .and.contain(commands);
  });

  it('evicts within a second what another replica was denied', async () => {
    const [one, other] = await pair({ resources: { tools: { cache: { minRefreshMs: 0 } } } });
    await one.read('tools');
    await stored();
    expect((await other.read('tools')).status).to.equal(200);
    platform.respond((_, response) => response.writeHead(403).end());
    expect((await one.read('tools', { headers: { 'cache-control': 'no-cache' } })).status).to.equal(403);
    await eventually(async () => (await other.read('tools')).status === 403);
    expect(await redis.command('KEYS', '*:list:*')).to.deep.equal([]);
  });

  it('counts requests for limits together with the other replicas', async () => {
    const [one, other] = await pair({ limits: { perCaller: 20, perAddress: 5 } });
    for (let count = 0; count < 10; count += 1) expect((await one.read('tools')).status).to.equal(200);
    for (let count = 0; count < 9; count += 1) expect((await other.read('tools')).status).to.equal(200);
    await eventually(async () => (await other.read('tools')).status === 429);
    await eventually(async () => (await one.read('tools')).status === 429);
  });

  it('counts tokens that no platform has accepted, per address, together with the other replicas', async () => {
    const [one, other] = await pair({ limits: { perCaller: 20, perAddress: 5 } });
    const listAs = async ({ url }: typeof one, token: string) =>
      (await fetch(`${url}/mcp/v1/resources`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (let count = 0; count < 5; count += 1) expect(await listAs(one, `made-up-${count}`)).to.equal(200);
    await eventually(async () => (await listAs(other, 'made-up-5')) === 429);
    // Of six callers at least, and of their address. Counts are sent a moment after the requests.
    const names = await eventually(async () => {
      const found = (await redis.command('KEYS', '*:{counters}:*')) as string[];
      return found.length >= 7 && found;
    });
    expect(names.join()).to.not.contain('127.0.0.1');
  });
});
