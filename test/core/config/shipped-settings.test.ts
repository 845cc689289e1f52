import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { settingsJsonSchema } from '../../../src/core/config/json-schema.ts';
import { loadConfig, parseConfig } from '../../../src/core/config/load-config.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { load } from './settings-file.ts';
import { settingsIn, settingsOf } from './settings-list.ts';

const HOSTS = RESOURCES.map(({ name }) => [name, `https://${name}.example`] as const);
const URLS = Object.fromEntries(HOSTS.map(([name, url]) => [`${name.toUpperCase()}_URL`, url]));
const UPSTREAMS = Object.fromEntries(HOSTS.map(([name, baseUrl]) => [name, { baseUrl }]));

/** A line that begins with # and a key: settings that are not in force. */
const OFF = /^( *)#(\w+: .*)$/;

describe('config/default.yaml', () => {
  const text = readFileSync('config/default.yaml', 'utf8');

  it('does the same as its base URLs alone', async () => {
    const { config } = await loadConfig('config/default.yaml', URLS);
    expect(config).to.deep.equal(parseConfig({ upstreams: UPSTREAMS }));
  });

  it('writes out every setting that is in force', async () => {
    const { config } = await loadConfig('config/default.yaml', URLS);
    expect(settingsIn(parse(text))).to.have.members(settingsIn(config));
  });

  it('shows every setting, in force or not, and none that is gone', () => {
    const shown = variants(text).flatMap((variant) => settingsIn(parse(variant.text)));
    const known = settingsOf(JSON.parse(settingsJsonSchema())).map(({ block, key }) => `${block} ${key}`);
    // Names of upstreams are not keys of the schema.
    expect(new Set(shown.filter((setting) => !setting.startsWith('upstreams ')))).to.deep.equal(new Set(known));
  });

  it('says something about every setting of the first upstream and resource, and of each listener', () => {
    const lines = text.slice(0, text.indexOf('  # All installed workflows.')).split('\n');
    const first = lines.findIndex((line) => line.startsWith('  workflows:'));
    const second = lines.findIndex((line) => line.startsWith('# The resources.'));
    const silent = [...lines.slice(0, first), ...lines.slice(second)].filter(
      (line, index, all) =>
        /^ *#?\w+:/.test(line) &&
        !/^ *#/.test(all[index - 1] ?? '') &&
        !/^ *(upstreams|resources|projects|kind|name|description|createTime):/.test(line),
    );
    expect(silent).to.deep.equal([]);
  });

  for (const variant of variants(text)) {
    it(`loads with this in force: ${variant.setting}`, async () => {
      const allowed = variant.text.replace('allowUnverifiedCallers: false', 'allowUnverifiedCallers: true');
      const posted = variant.setting.startsWith('body:') ? allowed.replace('method: GET', 'method: POST') : allowed;
      // What a setting needs stands in another line.
      const isNamed = variant.setting.includes('authorizationServers');
      const named = isNamed ? posted.replace('#publicUrl:', 'publicUrl:') : posted;
      expect((await load(named, { ...URLS, ACME_PASSWORD: 'hush', PROXY_PASSWORD: 'hush' })).config).to.have.property(
        'scheme',
        'platform',
      );
    });
  }
});

describe('config/demo.yaml', () => {
  const demo = {
    DEMO_PROJECTS_URL: 'http://127.0.0.1:1',
    DEMO_WORKFLOWS_URL: 'http://127.0.0.1:2',
    DEMO_TOOLS_URL: 'http://127.0.0.1:3',
  };

  it('asks the demo platform for small pages', async () => {
    const { config } = await loadConfig('config/demo.yaml', demo);
    expect(config.upstreams['tools']?.baseUrl).to.equal('http://127.0.0.1:3');
    for (const resource of Object.values(config.resources)) expect(resource.pagination).to.include({ size: 5 });
  });

  it('listens on 8080 and 9090 unless PORT and ADMIN_PORT say otherwise', async () => {
    const { config } = await loadConfig('config/demo.yaml', demo);
    expect([config.http.port, config.admin.port]).to.deep.equal([8080, 9090]);
    const moved = await loadConfig('config/demo.yaml', { ...demo, PORT: '1', ADMIN_PORT: '0' });
    expect([moved.config.http.port, moved.config.admin.port]).to.deep.equal([1, 0]);
  });
});

interface Variant {
  readonly setting: string;
  readonly text: string;
}

/** The text with each line that is off put in force, in turn, in place of the setting of the same key beside it. */
function variants(text: string): Variant[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, indent = '', setting] = OFF.exec(line) ?? [];
    if (setting === undefined) return [];
    const key = new RegExp(`^${indent}${setting.slice(0, setting.indexOf(':'))}:`);
    const start = lines.findLastIndex((each, at) => at < index && (key.test(each) || isOutside(each, indent)));
    const replaced = lines.map((each, at) => (at === index ? `${indent}${setting}` : each));
    if (key.test(lines[start] ?? '')) {
      const end = lines.findIndex((each, at) => at > start && !each.startsWith(`${indent} `));
      replaced.fill('', start, end);
    }
    return [{ setting, text: replaced.join('\n') }];
  });
}

function isOutside(line: string, indent: string): boolean {
  return line.trim() !== '' && !line.startsWith(indent === '' ? '#' : indent);
}
