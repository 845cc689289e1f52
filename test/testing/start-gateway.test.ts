import { expect } from 'chai';
import { ConfigError } from '../../src/gateway.ts';
import { type LogLine, startGateway } from '../../src/testing/start-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { json, startHttpUpstream } from '../support/platform/http-upstream.ts';
import { read } from './read.ts';

const TOKEN = 'token-of-the-test';
const ORIGIN = 'https://app.example';

const allAt = (baseUrl: string) => ({ projects: { baseUrl }, workflows: { baseUrl }, tools: { baseUrl } });

describe('startGateway', () => {
  it('listens on a free port, and has no admin listener', async () => {
    const gateways = [await startGateway(), await startGateway()] as const;
    for (const { url, log } of gateways) {
      const list = await fetch(`${url}/mcp/v1/resources`, { headers: { authorization: `Bearer ${TOKEN}` } });
      expect(await list.json()).to.have.length(3);
      expect(log[0]).to.deep.equal({
        level: 'info',
        msg: 'listening',
        url,
        resources: ['projects', 'workflows', 'tools'],
      });
    }
    expect(gateways[0].url).not.to.equal(gateways[1].url);
    for (const { close } of gateways) expect(await close()).to.equal(true);
  });

  it('merges partial settings with its defaults', async () => {
    const gateway = await startGateway({
      scheme: 'acme',
      http: { allowedOrigins: [ORIGIN] },
      admin: { enabled: true },
    });
    const [listening] = gateway.log;
    expect(listening?.['adminUrl']).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    const headers = { authorization: `Bearer ${TOKEN}`, origin: ORIGIN };
    const list = await fetch(`${gateway.url}/mcp/v1/resources`, { headers });
    expect(await list.text()).to.contain('acme://projects');
    expect(list.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
    await gateway.close();
  });

  it('has the log of every level, without the token', async () => {
    const upstream = await startHttpUpstream(json({ projects: [{ id: 'p', name: 'P' }], nextPageToken: '' }));
    const gateway = await startGateway({
      log: { level: 'error' },
      upstreams: allAt(upstream.url),
    });
    expect(await read(gateway, 'projects', TOKEN)).to.have.property('status', 200);
    const request = await eventually(() => gateway.log.find(({ msg }) => msg === 'request'));
    expect(request).to.include({ level: 'info', resource: 'projects', outcome: 'ok' });
    const page: LogLine | undefined = gateway.log.find(({ msg }) => msg === 'page fetched');
    expect(page).to.include({ level: 'debug', upstream: 'projects', status: 200 });
    expect(JSON.stringify(gateway.log)).not.to.contain(TOKEN);
    await gateway.close();
    await upstream.close();
  });

  it('looks at the clock that it is given', async () => {
    let now = Date.now();
    const upstream = await startHttpUpstream(json({ tools: [], nextPageToken: '' }));
    const gateway = await startGateway({ upstreams: allAt(upstream.url) }, { now: () => now });
    await read(gateway, 'tools', TOKEN);
    await read(gateway, 'tools', TOKEN);
    expect(upstream.requests).to.have.length(1);
    now += 3_600_000 * 24;
    await read(gateway, 'tools', TOKEN);
    expect(upstream.requests).to.have.length(2);
    await gateway.close();
    await upstream.close();
  });

  it('may be closed again', async () => {
    const { close } = await startGateway();
    expect(await Promise.all([close(), close()])).to.deep.equal([true, true]);
  });

  it('reports invalid settings', async () => {
    const error = await startGateway({ scheme: '7' }).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(ConfigError);
    expect(String(error)).to.contain('scheme');
  });
});
