import { expect } from 'chai';
import { parseSettings } from '../../../src/core/config/load-config.ts';
import { type CoreSettingsInput, settingsSchema } from '../../../src/core/config/schema/settings.ts';
import { changeSettings } from '../../../src/core/config/settings-changes.ts';

const upstream = { baseUrl: 'https://acme.example' };
const SETTINGS: CoreSettingsInput = { upstreams: { projects: upstream, workflows: upstream, tools: upstream } };
const settings = parseSettings(SETTINGS);

/** What becomes of settings that differ in these blocks. */
const changed = (other: Partial<CoreSettingsInput>) =>
  changeSettings(settings, parseSettings({ ...SETTINGS, ...other }));

describe('a change of settings', () => {
  it('takes effect at once, or at the next start, for each block of them', () => {
    const others: Required<{ [Block in keyof CoreSettingsInput]: CoreSettingsInput[Block] }> = {
      scheme: 'acme',
      http: { port: 1 },
      mcp: { tools: false },
      admin: { port: 2 },
      shutdown: { delayMs: 1 },
      log: { level: 'debug' },
      cache: { maxBytes: 65_536 },
      watchSettings: false,
      publicUrl: 'https://portico.example',
      verification: { issuer: 'https://login.example', audience: 'a' },
      allowUnverifiedCallers: true,
      upstreams: { ...SETTINGS.upstreams, tools: { baseUrl: 'https://other.example' } },
      resources: { tools: { path: '/other' } },
    };
    expect(Object.keys(others).sort()).to.deep.equal(Object.keys(settingsSchema().shape).sort());
    const needRestart = Object.entries(others).filter(
      ([block, other]) => changed({ [block]: other }).changes.needRestart.length > 0,
    );
    const blocks = needRestart.map(([block]) => block).sort();
    expect(blocks).to.deep.equal(['admin', 'cache', 'http', 'shutdown', 'watchSettings']);
  });

  it('leaves in force what it cannot change, and changes the rest of the same block', () => {
    const { settings: next, changes } = changed({
      http: { port: 1, allowedOrigins: ['https://app.example'] },
      mcp: { publicLists: true },
      log: { format: 'json', level: 'warn' },
    });
    expect(changes).to.deep.equal({
      applied: ['http.allowedOrigins', 'log.level', 'mcp.publicLists'],
      needRestart: ['http.port', 'log.format'],
    });
    expect(next.http).to.deep.include({ port: settings.http.port, allowedOrigins: ['https://app.example'] });
    expect(next.mcp).to.deep.equal({ ...settings.mcp, publicLists: true });
    expect(next.log).to.deep.equal({ ...settings.log, level: 'warn' });
  });

  it('leaves out what the new ones have not, and shows no value', () => {
    const credential = { kind: 'header', name: 'X-Key', format: 'secret {token}' } as const;
    const tools = { ...upstream, headers: { 'X-Secret': 'hidden' }, credential };
    const before = parseSettings({ upstreams: { ...SETTINGS.upstreams, tools } });
    const { settings: next, changes } = changeSettings(before, settings);
    expect(next).to.deep.equal(settings);
    expect(changes.needRestart).to.deep.equal([]);
    expect(changes.applied).to.deep.equal([
      ...['upstreams.tools.credential.format', 'upstreams.tools.credential.kind'],
      ...['upstreams.tools.credential.name', 'upstreams.tools.headers.X-Secret'],
    ]);
    expect(JSON.stringify(changes)).to.not.contain('hidden').and.not.contain('secret {');
  });
});
