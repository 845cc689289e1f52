import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SettingsInput } from '../src/gateway.ts';
import { createGateway } from '../src/gateway.ts';
import type { Status } from '../src/observability/status/status.ts';
import { eventually } from './support/eventually.ts';
import { settingsFor, startGateway } from './support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from './support/http-upstream.ts';
import { inFolder } from './support/process.ts';
import { type Redis, type RedisProxy, STALLED, startRedis, startRedisProxy } from './support/redis.ts';
import { needsCommands } from './support/tools.ts';

describe('a gateway that shares with other replicas', () => {
  let redis: Redis;
  let proxy: RedisProxy;
  let platform: HttpUpstream;
  let settings: SettingsInput;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis);
    platform = await startHttpUpstream(lists({ tools: [{ id: 'a', name: 'A' }] }));
    const keySecretFile = join(redis.folder, 'secret');
    writeFileSync(keySecretFile, 'k'.repeat(32));
    settings = settingsFor(platform.url, { admin: { port: 0 }, shared: { url: proxy.redisUrl, keySecretFile } });
  });

  async function status(adminUrl: string | undefined): Promise<Status> {
    return (await (await fetch(`${adminUrl}/status`)).json()) as Status;
  }

  it('starts, is ready and reads without the store, and tells that it is away', async () => {
    await proxy.refuse();
    const { gateway, url, read } = await startGateway(settings);
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    expect((await read('tools')).status).to.equal(200);
    const { changes } = await eventually(async () => {
      const told = await status(gateway.adminUrl);
      return told.changes.length > 1 && told;
    });
    expect(changes.map(({ text, isTrouble }) => [text, isTrouble])).to.deep.include([
      'the shared store is away: unreachable',
      true,
    ]);
    expect((await status(gateway.adminUrl)).shared).to.include({ isUp: false });
    expect(await (await fetch(`${gateway.adminUrl}/`)).text()).to.contain('<span class="bad">away</span>');
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).to.contain('portico_shared_up 0');
    await proxy.accept();
    await eventually(async () => (await status(gateway.adminUrl)).shared?.isUp);
    expect(await (await fetch(`${gateway.adminUrl}/`)).text()).to.contain('<span class="good">there</span>');
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).to.contain('portico_shared_up 1');
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
  });

  it('is closed though Redis says nothing', async () => {
    const { gateway } = await startGateway(settings);
    await eventually(async () => (await status(gateway.adminUrl)).shared?.isUp);
    proxy.treat(STALLED);
    expect(await gateway.close()).to.equal(true);
    await eventually(() => proxy.open() === 0);
  });

  it('leaves other settings to a change, and says that these need a restart', async () => {
    const { gateway } = await startGateway(settings);
    const { shared, ...alone } = settings;
    expect(gateway.change({ ...alone, scheme: 'acme' })).to.deep.equal({
      applied: ['scheme'],
      needRestart: ['shared'],
    });
    await eventually(async () => (await status(gateway.adminUrl)).shared?.isUp);
  });

  it('tells nothing of a store where there is none', async () => {
    const { shared, ...alone } = settings;
    const { gateway } = await startGateway(alone);
    expect((await status(gateway.adminUrl)).shared).to.equal(null);
    expect(await (await fetch(`${gateway.adminUrl}/`)).text()).to.not.contain('Shared store');
  });

  it('does not start with a secret that could be tried out', async () => {
    await inFolder(async (folder) => {
      const keySecretFile = join(folder, 'short');
      writeFileSync(keySecretFile, 'short');
      const wrong = { ...settings, shared: { url: proxy.redisUrl, keySecretFile } };
      expect(() => createGateway(wrong)).to.throw('shared.keySecretFile: must hold 32 characters at least');
    });
  });
});
