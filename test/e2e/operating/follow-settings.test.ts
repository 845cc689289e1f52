import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { newFolder, runPortico } from '../../support/process/process.ts';
import { READ_TOOLS } from '../../support/process/serving.ts';

/** Settings in which the name of a tool stands under `field`. */
const settings = (baseUrl: string, field: string, more: string) => `
http: { port: 0 }
admin: { enabled: false }
upstreams: { projects: { baseUrl: "${baseUrl}" }, workflows: { baseUrl: "${baseUrl}" }, tools: { baseUrl: "${baseUrl}" } }
resources: { tools: { fields: { name: ${field} } } }
${more}
`;

const write = (folder: string, text: string) => writeFile(join(folder, 'portico.yaml'), text);

/** As Kubernetes mounts a ConfigMap: the file is a link into a folder that is a link, which is renamed. */
async function mount(folder: string, text: string): Promise<void> {
  const data = join(folder, `..${Math.random()}`);
  await mkdir(data);
  await writeFile(join(data, 'portico.yaml'), text);
  await symlink(data, join(folder, '..next'));
  await rename(join(folder, '..next'), join(folder, '..data'));
  await symlink(join('..data', 'portico.yaml'), join(folder, 'portico.yaml')).catch(() => {});
}

/** Starts a process whose settings file is `portico.yaml` of a folder. `enter` puts the first one there. */
async function start(enter: typeof write, more = '') {
  const platform = await startHttpUpstream(json({ tools: [{ id: 'a', name: 'first', title: 'second' }] }));
  const folder = await newFolder();
  const text = (field: string, others = more) => settings(platform.url, field, others);
  await enter(folder, text('name'));
  const portico = runPortico(['--config', join(folder, 'portico.yaml')]);
  const url = await portico.ready;
  return {
    folder,
    portico,
    text,
    async name(): Promise<string | undefined> {
      const response = await fetch(`${url}${READ_TOOLS}`, { headers: { authorization: 'Bearer token-of-the-test' } });
      return ((await response.json()) as { name: string }[])[0]?.name;
    },
    count: (message: string) => portico.stdout().split(`"msg":"${message}"`).length - 1,
  };
}

describe('a process reloads its settings file', () => {
  it('on SIGHUP, rejects one that is wrong with all its mistakes, and keeps the previous settings', async () => {
    const { folder, portico, text, name, count } = await start(write, 'watchSettings: false');
    const reload = async (yaml: string, message: string) => {
      const before = count(message);
      await write(folder, yaml);
      portico.child.kill('SIGHUP');
      await eventually(() => count(message) > before);
      return linesIn(portico.stdout())
        .filter(({ msg }) => msg === message)
        .at(-1);
    };
    const { level, issues } = await reload(text('title', 'scheme: No\nmaxLoadingBytes: many'), 'settings refused');
    expect(level).to.equal('error');
    expect(issues).to.have.length(2);
    expect(issues[0]).to.match(/portico\.yaml:6:9: scheme: must be/);
    const unusable = text('title', 'allowUnverifiedCallers: true').replaceAll(
      /(baseUrl: "[^"]*")/g,
      '$1, credential: { kind: service, file: /no/secret }',
    );
    expect((await reload(unusable, 'settings refused')).issues[0]).to.match(
      /portico\.yaml:4:\d+: upstreams\.projects\.credential\.file: cannot be read: no such file or directory/,
    );
    expect(await name()).to.equal('first');
    const changes = { applied: ['resources.tools.fields.name.from'], needRestart: [] };
    expect(await reload(text('title'), 'settings changed')).to.deep.include(changes);
    expect(await name()).to.equal('second');
    await reload(text('title'), 'settings unchanged');
    await rm(join(folder, 'portico.yaml'));
    portico.child.kill('SIGHUP');
    await eventually(() => count('settings refused') === 3);
    expect(await name()).to.equal('second');
    const { code, stderr } = await portico.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('when it changes as a mounted one', async () => {
    const { folder, text, name, count } = await start(mount);
    expect(await name()).to.equal('first');
    await mount(folder, text('title', 'log: { level: warn }'));
    await eventually(async () => (await name()) === 'second');
    // Told before the level took effect.
    await eventually(() => count('settings changed') === 1);
    const lines = count('request');
    await mount(folder, text('name', 'log: { level: warn }'));
    await eventually(async () => (await name()) === 'first');
    expect([count('settings changed'), count('request')]).to.deep.equal([1, lines]);
  });
});
