import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { buildImage, makeReadable, type Stage } from '../support/dockerfile.ts';
import { freePort } from '../support/free-port.ts';
import { needsRegistry, toolEnvironment } from '../support/tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

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

/** Only root can run a process as somebody else, and only where that one may run this Node. */
function asUser(user: string): { uid?: number; gid?: number } {
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  if (process.getuid?.() !== 0) return {};
  const tried = spawnSync(process.execPath, ['--version'], { uid, gid, cwd: '/' });
  return tried.status === 0 ? { uid, gid } : {};
}

describe('the Dockerfile, step by step in empty folders', function () {
  this.timeout(600_000);
  let folder: string | undefined;
  let image: Stage;

  before(async function () {
    await needsRegistry(this);
    folder = await mkdtemp(join(tmpdir(), 'portico-image-'));
    image = await buildImage(ROOT, folder);
    await mkdir(join(image.root, 'etc/portico'), { recursive: true });
    await writeFile(join(image.root, 'etc/portico/portico.yaml'), SETTINGS);
    await chmod(folder, 0o755);
    await makeReadable(image.root, false);
  });

  after(async () => {
    if (folder === undefined) return;
    await makeReadable(folder, true);
    await rm(folder, { recursive: true });
  });

  it('builds on the Node that the project is developed on', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const [, major] = /^\^(\d+)\./.exec(devDependencies.node) ?? [];
    expect(image.image).to.equal(`node:${major}-slim`);
  });

  it('ends in what Portico runs on, and nothing else', async () => {
    const home = join(image.root, image.workdir);
    expect(await readdir(home)).to.have.members([
      '.npmrc',
      'LICENSE',
      'config',
      'dist',
      'node_modules',
      'package-lock.json',
      'package.json',
    ]);
    const packages = await readdir(join(home, 'node_modules'));
    expect(packages).to.include('koa');
    for (const name of ['node', 'typescript', 'mocha']) expect(packages).not.to.include(name);
  });

  it('runs without root and without writing, is healthy, and ends with 0 at its stop signal', async () => {
    expect(image.user).to.match(/^[1-9]\d*:[1-9]\d*$/);
    const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
    const options = {
      cwd: join(image.root, image.workdir),
      env: toolEnvironment({ ...image.env, ...ports }),
      ...asUser(image.user),
    };
    const inImage = (word: string) => (word.startsWith('/') ? join(image.root, word) : word);
    const [program = '', ...args] = [...image.entrypoint, ...image.command].map(inImage);
    const portico = spawn(program, args, options);
    const said: Buffer[] = [];
    for (const stream of [portico.stdout, portico.stderr]) stream.on('data', (bytes) => said.push(bytes));
    const ended = once(portico, 'exit');
    try {
      const [check = '', ...words] = image.healthcheck;
      for (let tries = 1; spawnSync(check, words, options).status !== 0; tries += 1) {
        if (portico.exitCode !== null || tries > 100) throw new Error(`not healthy: ${Buffer.concat(said)}`);
        await sleep(100);
      }
      portico.kill(image.stopSignal as NodeJS.Signals);
      expect((await ended)[0], Buffer.concat(said).toString()).to.equal(0);
      expect(spawnSync(check, words, options).status).to.equal(1);
    } finally {
      portico.kill('SIGKILL');
    }
  });
});
