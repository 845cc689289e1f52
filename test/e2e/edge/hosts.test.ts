import { expect } from 'chai';
import { ConfigError, createGateway } from '../../../src/gateway.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { exchange, get } from '../../support/raw-http.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const REBOUND = ['rebound.example', 'rebound.example:9090', '127.0.0.1.rebound.example', 'localhost.'];
const OWN = ['127.0.0.1', '10.1.2.3:9090', '[fd00::1]:9090', 'localhost:1'];

/** Who is let in without a token that anything verifies, on all addresses. */
function openSettings(http: object, rest: object = {}) {
  const upstream = { credential: { kind: 'none' } } as const;
  const settings = (baseUrl: string) => settingsFor(baseUrl, { upstream, http: { port: 0, host: '0.0.0.0', ...http } });
  return (baseUrl: string) => ({ ...settings(baseUrl), allowUnverifiedCallers: true, ...rest });
}

describe('a web page whose name was made to resolve to a gateway (DNS rebinding)', () => {
  it('finds no open gateway: settings without verification require http.allowedHosts', () => {
    expect(() => createGateway(openSettings({})('http://127.0.0.1:9'))).to.throw(ConfigError, 'http.allowedHosts');
  });

  it('cannot read a list under its own host name', async () => {
    const platform = await startHttpUpstream(lists({ tools: [toolItem('t')] }));
    for (const [http, rest, own] of [
      [{ allowedHosts: ['portico.example'] }, {}, ['portico.example', 'portico.example:5', ...OWN]],
      [{}, { publicUrl: 'https://portico.example' }, ['portico.example', ...OWN]],
    ] as const) {
      const { url } = await startGateway(openSettings(http, rest)(platform.url));
      const before = platform.requests.length;
      for (const host of REBOUND) {
        expect((await exchange(url, get(READ, { Host: host }))).json(), host).to.include({ code: 'host_refused' });
        expect((await exchange(url, get(`http://${host}${READ}`))).status, host).to.equal(421);
        for (const probe of ['/livez', '/readyz']) {
          expect((await exchange(url, get(probe, { Host: host }))).status, host).to.equal(200);
        }
      }
      expect(platform.requests).to.have.length(before);
      for (const host of own) expect((await exchange(url, get(READ, { Host: host }))).status, host).to.equal(200);
    }
  });

  it('can reach only the probes of the admin listener', async () => {
    const admin = { host: '0.0.0.0', port: 0, allowedHosts: ['portico-admin'] };
    const { gateway } = await startGateway({ ...settingsFor('http://127.0.0.1:9'), admin });
    const adminUrl = gateway.adminUrl ?? expect.fail('no admin listener');
    const statusOf = async (path: string, fields: Readonly<Record<string, string>>) =>
      (await exchange(adminUrl, get(path, { Authorization: undefined, ...fields }))).status;
    for (const path of ['/', '/status', '/metrics']) {
      for (const host of REBOUND) expect(await statusOf(path, { Host: host }), `${path} ${host}`).to.equal(421);
      expect(await statusOf(path, { Host: 'localhost', Origin: 'https://evil.example' }), path).to.equal(403);
      const rebound = { Host: 'rebound.example', Origin: 'http://rebound.example' };
      expect(await statusOf(path, rebound), path).to.equal(421);
    }
    for (const path of ['/', '/status', '/metrics']) {
      for (const host of [...OWN, 'portico-admin:9090', 'portico-admin']) {
        expect(await statusOf(path, { Host: host }), `${path} ${host}`).to.equal(200);
      }
    }
    for (const host of REBOUND) expect(await statusOf('/livez', { Host: host })).to.equal(200);
  });
});
