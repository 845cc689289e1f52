import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';

describe('a gateway whose settings change', () => {
  let platform: HttpUpstream;
  let running: RunningGateway;
  let log: ReturnType<typeof captureLog>;
  /** Responses that the platform holds back. @default none */
  let held: (() => void)[] | undefined;

  const list = (resource: string) => ({ [resource]: [{ id: 'a', name: 'First', title: 'Second' }], nextPageToken: '' });
  const settings = (overrides: Partial<TestSettings> = {}) =>
    settingsFor(platform.url, { log: { level: 'info' }, ...overrides });
  const mappedFrom = (name: string) => settings({ resources: { tools: { fields: { name } } } });
  const requestsFor = (resource: string) => platform.requests.filter((request) => listOf(request) === resource).length;
  /** Name of the one item, and what became of the cache. */
  const read = async (resource: string) => {
    const response = await running.read(resource);
    const [item] = (await response.json()) as { name: string }[];
    return [response.status, item?.name, /(?:hit|fwd=[\w-]+)/.exec(response.headers.get('cache-status') ?? '')?.[0]];
  };

  beforeEach(async () => {
    held = undefined;
    platform = await startHttpUpstream((request, response: ServerResponse) => {
      const respond = () => response.end(JSON.stringify(list(listOf(request))));
      if (held === undefined) respond();
      else held.push(respond);
    });
    log = captureLog();
    running = await startGateway(settings(), { logger: log.logger });
  });

  it('maps with the new settings, and keeps unaffected snapshots', async () => {
    expect(await read('tools')).to.deep.equal([200, 'First', 'fwd=miss']);
    await read('workflows');
    const changes = running.gateway.change(mappedFrom('title'));
    expect(changes).to.deep.equal({ applied: ['resources.tools.fields.name.from'], needRestart: [] });
    expect(await read('tools')).to.deep.equal([200, 'Second', 'fwd=miss']);
    expect(await read('tools')).to.deep.equal([200, 'Second', 'hit']);
    expect(await read('workflows')).to.deep.equal([200, 'First', 'hit']);
    expect(platform.connections()).to.equal(2);
  });

  it('never serves snapshots of earlier settings, even when they return', async () => {
    await read('tools');
    running.gateway.change(mappedFrom('title'));
    running.gateway.change(settings());
    expect(await read('tools')).to.deep.equal([200, 'First', 'fwd=miss']);
  });

  it('keeps snapshots when only their lifetimes change', async () => {
    await read('tools');
    running.gateway.change(settings({ resources: { tools: { cache: { ttlMs: 1_000_000 } } } }));
    expect(await read('tools')).to.deep.equal([200, 'First', 'hit']);
    running.gateway.change(settings({ resources: { tools: { cache: { ttlMs: 0 } } } }));
    expect((await read('tools'))[2]).to.not.equal('hit');
  });

  it('finishes a read under the settings that it started with', async () => {
    held = [];
    const before = read('tools');
    await eventually(() => requestsFor('tools') === 1);
    running.gateway.change(mappedFrom('title'));
    const after = read('tools');
    await eventually(() => requestsFor('tools') === 2);
    for (const respond of held) respond();
    expect(await before).to.deep.equal([200, 'First', 'fwd=miss']);
    expect(await after).to.deep.equal([200, 'Second', 'fwd=miss']);
    held = undefined;
    expect(await read('tools')).to.deep.equal([200, 'Second', 'hit']);
  });

  it('adds and removes resources and MCP', async () => {
    const rpc = () => fetch(`${running.url}/mcp`, { method: 'POST' });
    expect((await rpc()).status).to.equal(401);
    running.gateway.change(settings({ mcp: { enabled: false }, resources: { tools: { enabled: false } } }));
    expect((await rpc()).status).to.equal(404);
    expect((await running.read('tools')).status).to.equal(404);
    running.gateway.change(settings());
    expect((await rpc()).status).to.equal(401);
    expect((await read('tools'))[0]).to.equal(200);
  });

  it('closes a removed upstream after its last read', async () => {
    const other = await startHttpUpstream((request, response) => {
      response.end(JSON.stringify(list(listOf(request))));
    });
    await read('tools');
    await read('projects');
    expect(platform.open()).to.equal(2);
    const moved = settings();
    running.gateway.change({ ...moved, upstreams: { ...moved.upstreams, tools: { baseUrl: other.url } } });
    await eventually(() => platform.open() === 1);
    expect(await read('tools')).to.deep.equal([200, 'First', 'fwd=miss']);
    await running.gateway.close();
    await other.close();
  });
});
