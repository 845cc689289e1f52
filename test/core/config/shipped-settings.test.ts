import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { settingsIn } from '../../../scripts/settings/setting-list.ts';
import { loadSettings, SLICES } from '../../../src/composition.ts';
import { parseSettings } from '../../../src/core/config/load-config.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';

const HOSTS = RESOURCES.map(({ name }) => [name, `https://${name}.example`] as const);
const URLS = Object.fromEntries(HOSTS.map(([name, url]) => [`${name.toUpperCase()}_URL`, url]));
const UPSTREAMS = Object.fromEntries(HOSTS.map(([name, baseUrl]) => [name, { baseUrl }]));

describe('config/default.yaml', () => {
  const text = readFileSync('config/default.yaml', 'utf8');

  it('does the same as its base URLs alone', async () => {
    const { settings: config } = await loadSettings('config/default.yaml', URLS);
    expect(config).to.deep.equal(parseSettings({ upstreams: UPSTREAMS }, RESOURCES, SLICES));
  });

  it('shows every setting that has a default', async () => {
    const { settings: config } = await loadSettings('config/default.yaml', URLS);
    const keysOf = (settings: unknown) => new Set(settingsIn(settings).filter((key) => !key.startsWith('upstreams ')));
    expect(keysOf(parse(text))).to.deep.equal(keysOf(config));
  });
});

describe('config/demo.yaml', () => {
  it('listens on 8080 and 9090 unless PORT and ADMIN_PORT say otherwise', async () => {
    const demo = Object.fromEntries(Object.entries(URLS).map(([name, url]) => [`DEMO_${name}`, url]));
    for (const [environment, ports] of [
      [{}, [8080, 9090]],
      [{ PORT: '1', ADMIN_PORT: '0' }, [1, 0]],
    ] as const) {
      const { config } = await loadSettings('config/demo.yaml', { ...demo, ...environment });
      expect([config.http.port, config.admin.port]).to.deep.equal(ports);
    }
  });
});
