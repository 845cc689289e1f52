import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { filesBelow } from '../support/process/files.ts';
import { newFolder, porticoEnvironment, startPortico } from '../support/process/process.ts';
import { needsRegistry, runTool, toolEnvironment } from '../support/tools.ts';
import { installIn, type Packed, pack, ROOT, startRegistry } from './packed.ts';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

describe('the package', function () {
  this.timeout(300_000);
  let packed: Packed;
  let version: string;

  before(async function () {
    await needsRegistry(this);
    packed = await pack();
    ({ version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  });

  it('contains what runs, its settings, examples and docs, and nothing else', async () => {
    const top = /^(?:CHANGELOG|CONTRIBUTING|README|SECURITY)\.md$|^LICENSE$|^(?:npm-shrinkwrap|package)\.json$/;
    const below = /^config\/.+\.(?:ya?ml|json)$|^deploy\/.+\.(?:ya?ml|json|tpl|service)$|^docs\/.+\.(?:md|png|svg)$/;
    const built = /^dist\/(?:[\w-]+\.(?:js|js\.map|css|html)|.+\.d\.ts)$/;
    expect(packed.files.filter((file) => ![top, below, built].some((kind) => kind.test(file)))).to.deep.equal([]);
    const sources = (await filesBelow(join(ROOT, 'src'))).filter((file) => file.endsWith('.ts'));
    expect(packed.files).to.include.members([
      ...['main', 'gateway', 'portico', 'portico-testing', 'testing'].map((name) => `dist/${name}.js`),
      ...sources.map((file) => `dist/${file.replace(/\.ts$/, '.d.ts')}`),
      ...(await filesBelow(join(ROOT, 'docs'))).map((file) => `docs/${file}`),
      ...['LICENSE', 'npm-shrinkwrap.json', 'config/default.yaml', 'deploy/systemd/portico.service'],
    ]);
  });

  it('installs from a registry with the versions that its tests ran with, and nothing for development', async () => {
    const project = await newFolder();
    const registry = await startRegistry(packed);
    await installIn(project, ['portico', '--ignore-scripts'], { npm_config_registry: registry });
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
    const versionIn = async (folder: string) =>
      JSON.parse(await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')).version;
    for (const [path, { version: locked, dev, optional }] of Object.entries<Locked>(packages)) {
      if (path === '' || optional === true) continue;
      const installed = await versionIn(join(project, 'node_modules/portico', path));
      expect(installed, path).to.equal(dev === true ? undefined : locked);
    }
  });

  it('is a command after a global install, with the demo, the examples and the schema of settings', async () => {
    const prefix = await newFolder();
    await runTool('npm', ['install', '--global', '--prefix', prefix, packed.tarball], prefix);
    const command = join(prefix, 'bin/portico');
    expect(await runTool(command, ['--version'], prefix)).to.equal(`${version}\n`);
    const { PATH = '' } = toolEnvironment();
    const demo = startPortico(command, ['--demo'], porticoEnvironment({ PORT: '0', ADMIN_PORT: '0', PATH }));
    const list = await fetch(`${await demo.ready}/mcp/v1/resources`, {
      headers: { authorization: 'Bearer demo-alice' },
    });
    expect(await list.json()).to.have.length(3);
    expect((await demo.stop()).code).to.equal(0);
    const example = 'lib/node_modules/portico/config/examples/rapid7.yaml';
    expect(await runTool(command, ['check', example], prefix)).to.contain('OK');
    const schema = await readFile(join(ROOT, 'config/schema.json'), 'utf8');
    expect(await runTool(command, ['schema'], prefix)).to.equal(schema);
  });
});
