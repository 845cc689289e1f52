import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { codeBlocks } from '../support/docs.ts';
import { runPortico } from '../support/process.ts';
import { needsRegistry, runTool } from '../support/tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/contract-tests.md';

/** What a clean checkout has and `npm pack` needs. */
const SOURCES = [
  'package.json',
  '.npmrc',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'config',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
];

/** A consumer in TypeScript. The last line must not compile: else the types that it got are `any`. */
const CONSUMER = `
import { ConfigError, createGateway, type Gateway, type SettingsInput } from 'portico';

const settings: SettingsInput = {
  http: { port: 0 },
  upstreams: { projects: { baseUrl: 'https://platform.example', credential: { kind: 'header', name: 'X-Api-Key' } } },
  resources: { projects: { path: '/projects', pagination: { kind: 'link' } } },
};
const gateway: Gateway = createGateway(settings);
export const url: string = await gateway.start();
export const whole: boolean = await gateway.close();
export const isMistake = (error: unknown): boolean => error instanceof ConfigError;
// @ts-expect-error upstreams is missing
createGateway({});
`;

/** Packs a copy, so that nothing that the working folder holds beside the sources can get in, and gives the tarball. */
async function pack(folder: string): Promise<string> {
  const copy = join(folder, 'portico');
  for (const source of SOURCES) await cp(join(ROOT, source), join(copy, source), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await runTool('npm', ['pack', '--pack-destination', folder], copy);
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  return join(folder, tarball);
}

/** The page's own command, with the tarball in place of the published package, and tools as new as the ones here. */
async function install(tarball: string, consumer: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const [command = ''] = codeBlocks(PAGE, 'sh');
  const [npm = '', ...words] = command.trim().split(' ');
  expect(words).to.include.members(['install', 'portico', 'mocha', 'chai', 'nock']);
  const args = words.map((word) => {
    if (word === 'portico') return tarball;
    return word in devDependencies ? `${word}@${devDependencies[word]}` : word;
  });
  await mkdir(consumer);
  await writeFile(join(consumer, 'package.json'), '{ "private": true }');
  await runTool(npm, [...args, '--no-audit', '--no-fund'], consumer);
}

describe('the package, installed by a consumer', function () {
  this.timeout(300_000);
  let folder: string;
  let consumer: string;

  before(async function () {
    await needsRegistry(this);
    folder = await mkdtemp(join(tmpdir(), 'portico-package-'));
    consumer = join(folder, 'consumer');
    await install(await pack(folder), consumer);
  });

  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it('holds what runs and what it needs, and nothing else', async () => {
    const entries = await readdir(join(consumer, 'node_modules/portico'), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(join(consumer, 'node_modules/portico'), join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('node_modules'));
    expect(files).to.include.members([
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'config/default.yaml',
      'config/demo.yaml',
      'config/schema.json',
      'dist/main.js',
      'dist/gateway.js',
      'dist/gateway.d.ts',
    ]);
    const expected = /^(dist\/.+\.(js|d\.ts)|config\/.+\.(yaml|json)|(README|CHANGELOG)\.md|LICENSE|package\.json)$/;
    expect(files.filter((file) => !expected.test(file))).to.deep.equal([]);
  });

  it('runs the test of the contract-test page', async () => {
    const [code = ''] = codeBlocks(PAGE, 'js');
    await writeFile(join(consumer, 'portico.test.mjs'), code);
    const stdout = await runTool('npx', ['mocha', 'portico.test.mjs'], consumer);
    expect(stdout).to.match(/[1-9] passing/);
  });

  it('brings types that hold without skipLibCheck', async () => {
    await writeFile(join(consumer, 'consumer.mts'), CONSUMER);
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const types = join(ROOT, 'node_modules/@types');
    const args = ['--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2024'];
    await runTool(tsc, ['--noEmit', ...args, '--typeRoots', types, '--types', 'node', 'consumer.mts'], consumer);
  });

  it('brings the command portico, with the settings of the demo', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(await runTool('npx', ['portico', '--version'], consumer)).to.equal(`${version}\n`);
    const demo = runPortico(['--demo'], { PORT: '0', ADMIN_PORT: '0' }, join(consumer, 'node_modules/.bin/portico'));
    const list = await fetch(`${await demo.ready}/mcp/v1/resources`, {
      headers: { authorization: 'Bearer demo-alice' },
    });
    expect(await list.json()).to.have.length(3);
    expect((await demo.stop()).code).to.equal(0);
  });
});
