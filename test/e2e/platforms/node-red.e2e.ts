import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { installPlatform, type StartedPlatform, startPlatform } from '../../support/platform/installed.ts';
import { newFolder } from '../../support/process/serving.ts';
import { probe, serve, standsBehindPortico } from './reading.ts';

const PACKAGE = { name: 'node-red', version: '5.0.7', scripts: [] };
const TOKEN = 'node-red-token-of-the-test';

/** 37 tabs, each fifth of them disabled, and each with a node that is no workflow. */
const FLOWS = Array.from({ length: 37 }, (_, index) => [
  { id: `tab${index}`, type: 'tab', label: `Flow ${index}`, disabled: index % 5 === 0, info: `About "${index}" – ü` },
  { id: `node${index}`, type: 'comment', z: `tab${index}`, name: '', info: '', x: 1, y: 1, wires: [] },
]).flat();

const configFor = (port: number) => `module.exports = {
  uiHost: '127.0.0.1', uiPort: ${port}, userDir: __dirname, flowFile: 'flows.json', credentialSecret: false,
  telemetry: { enabled: false, updateNotification: false }, diagnostics: { enabled: false },
  externalModules: { autoInstall: false, palette: { allowInstall: false } },
  adminAuth: {
    type: 'credentials', users: [],
    tokens: async (token) => (token === '${TOKEN}' ? { username: 'reader', permissions: 'read' } : null),
  },
};
`;

const settingsFor = (baseUrl: string, workflows: object = {}) => ({
  upstreams: { nodeRed: { baseUrl } },
  resources: {
    projects: { enabled: false },
    workflows: {
      upstream: 'nodeRed',
      path: '/flows',
      query: {},
      items: '@',
      pagination: { kind: 'none' },
      where: "type == 'tab'",
      fields: {
        ...{ name: 'label', description: 'info', triggerType: { from: "'MANUAL'" } },
        status: "disabled && 'INACTIVE' || 'ACTIVE'",
      },
      ...workflows,
    },
    tools: {
      upstream: 'nodeRed',
      path: '/nodes',
      query: {},
      items: '@',
      pagination: { kind: 'none' },
      fields: { category: 'module', description: "join(', ', types)" },
    },
  },
});

describe('Node-RED behind Portico', function () {
  this.timeout(600_000);
  let platform: StartedPlatform;

  before(async function () {
    const home = await installPlatform(this, PACKAGE);
    const folder = await newFolder();
    await writeFile(join(folder, 'flows.json'), JSON.stringify(FLOWS));
    const file = join(folder, 'settings.cjs');
    platform = await startPlatform(
      (port) => {
        writeFileSync(file, configFor(port));
        return { args: ['--max-old-space-size=256', join(home, 'red.js'), '--settings', file], env: {} };
      },
      { cwd: folder, path: '/flows', status: 401 },
    );
  });

  after(() => platform?.stop('SIGKILL'));

  async function own(path: string): Promise<Record<string, string>[]> {
    const headers = { authorization: `Bearer ${TOKEN}`, accept: 'application/json' };
    return (await fetch(platform.url + path, { headers })).json() as Promise<Record<string, string>[]>;
  }

  it("lists the same items as Node-RED's own API", async () => {
    const read = await serve(settingsFor(platform.url));
    const tabs = (await own('/flows')).filter(({ type }) => type === 'tab');
    expect(tabs).to.have.length(37);
    expect(await read('workflows', TOKEN)).to.deep.equal({
      status: 200,
      body: tabs.map(({ id, label, info, disabled }) => ({
        ...{ id, name: label, description: info, triggerType: 'MANUAL', status: disabled ? 'INACTIVE' : 'ACTIVE' },
      })),
    });
    const nodes = await own('/nodes');
    expect(nodes).not.to.have.length(0);
    expect(await read('tools', TOKEN)).to.deep.equal({
      status: 200,
      body: nodes.map(({ id, name, version, module, types }) => ({
        ...{ id, name, version, category: module, description: (types as unknown as string[]).join(', ') },
      })),
    });
  });

  it('passes check --probe with the right settings, and fails with a wrong path to the items', async () => {
    const right = await probe(settingsFor(platform.url), TOKEN);
    expect(right.code, right.printed).to.equal(0);
    expect(right.printed).to.contain('OK');
    const wrong = await probe(settingsFor(platform.url, { items: 'flows' }), TOKEN);
    expect(wrong.code, wrong.printed).to.equal(1);
    expect(right.printed + wrong.printed).not.to.contain(TOKEN);
  });

  standsBehindPortico(
    () => serve(settingsFor(platform.url)),
    () => TOKEN,
    () => platform.stop('SIGKILL'),
    ['tools'],
  );
});
