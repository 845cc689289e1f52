import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/listening.ts';
import { asUser, buildImage, makeReadable, type Stage } from '../../support/process/dockerfile.ts';
import { startProcess } from '../../support/process/process.ts';
import { needsRegistry, toolEnvironment } from '../../support/tools.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

// Every platform is down: ready means ready for callers.
const SETTINGS = `
http:
  port: \${PORT}
admin:
  port: \${ADMIN_PORT}
upstreams:
  projects: { baseUrl: http://127.0.0.1:9 }
  workflows: { baseUrl: http://127.0.0.1:9 }
  tools: { baseUrl: http://127.0.0.1:9 }
`;

describe('the Dockerfile, step by step in empty folders', function () {
  this.timeout(600_000);
  let folder: string | undefined;
  let image: Stage;

  before(async function () {
    await needsRegistry(this);
    folder = await mkdtemp(join(tmpdir(), 'portico-image-'));
    // As in an image, everybody may go there from the beginning.
    await chmod(folder, 0o755);
    image = await buildImage(ROOT, folder);
    await mkdir(join(image.root, 'etc/portico'), { recursive: true });
    await writeFile(join(image.root, 'etc/portico/portico.yaml'), SETTINGS);
    await makeReadable(image.root, false);
  });

  after(async () => {
    if (folder === undefined) return;
    await makeReadable(folder, true);
    await rm(folder, { recursive: true });
  });

  const inImage = (word: string) => (word.startsWith('/') ? join(image.root, word) : word);

  /** Of a process in a container that is given these variables. */
  function optionsOf(given: Record<string, string>) {
    const own = Object.fromEntries(Object.entries(image.env).map(([name, value]) => [name, inImage(value)]));
    return {
      cwd: join(image.root, image.workdir),
      env: toolEnvironment({ ...own, ...given }),
      ...asUser(image.user),
    };
  }

  it('builds on the Node that the project is developed on', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const [version = ''] = /\d[\d.]*/.exec(devDependencies.node) ?? [];
    expect(image.image.split('@')[0]).to.equal(`node:${version}-slim`);
  });

  it('contains only what Portico needs to run', async () => {
    const home = join(image.root, image.workdir);
    expect(await readdir(home)).to.have.members([
      ...['.npmrc', 'LICENSE', 'compiled', 'config', 'dist', 'docs', 'node_modules', 'package-lock.json'],
      'package.json',
    ]);
    expect(await readdir(join(home, 'docs'))).to.deep.equal(['runbook.md']);
    const packages = await readdir(join(home, 'node_modules'));
    expect(packages).to.include('koa');
    for (const name of ['node', 'typescript', 'mocha']) expect(packages).not.to.include(name);
  });

  it('runs without root on a read-only file system, is healthy, and exits with 0 at its stop signal', async () => {
    expect(image.user).to.match(/^[1-9]\d*:[1-9]\d*$/);
    const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
    const options = optionsOf(ports);
    const [program = '', ...args] = [...image.entrypoint, ...image.command].map(inImage);
    const portico = startProcess(program, args, options);
    const [check = '', ...words] = image.healthcheck;
    await eventually(() => {
      if (portico.child.exitCode !== null) throw new Error(`ended: ${portico.stdout()}${portico.stderr()}`);
      return spawnSync(check, words, options).status === 0;
    });
    const { code, stdout, stderr } = await portico.stop(image.stopSignal as NodeJS.Signals);
    expect(code, `${stdout}${stderr}`).to.equal(0);
    expect(spawnSync(check, words, options).status).to.equal(1);
  });

  it('starts with the compile cache of the build', async () => {
    const told = join(folder ?? '', 'told');
    const [program = '', ...args] = [...image.entrypoint, 'check', '--config', '/etc/portico/portico.yaml'].map(
      inImage,
    );
    // Into a file: a pipe that is full would lose lines of it.
    const output = await open(told, 'w');
    const options = optionsOf({ PORT: '0', ADMIN_PORT: '0', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    const { status } = spawnSync(program, args, { ...options, stdio: ['ignore', 'ignore', output.fd] });
    await output.close();
    expect(status).to.equal(0);
    const text = await readFile(told, 'utf8');
    const home = join(image.root, image.workdir);
    for (const file of ['dist/main.js', 'node_modules/yaml/dist/index.js'])
      expect(text).to.contain(`${home}/${file} was accepted`);
  });
});
