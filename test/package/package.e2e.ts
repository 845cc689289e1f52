import { readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { codeBlocks } from '../support/docs.ts';
import { porticoEnvironment, startPortico } from '../support/process.ts';
import { needsRegistry, runTool } from '../support/tools.ts';
import { expectedFiles } from './contents.ts';
import { type NodeOnHand, nodeFromNpm, runOn, runToolOn, THIS_NODE } from './nodes.ts';
import { asNewAsHere, installIn, type Packed, pack, ROOT, temporaryFolder } from './packed.ts';

const PAGE = 'docs/contract-tests.md';

/** A consumer in TypeScript. The lines below the comments must not compile: else the types that it got are `any`. */
const CONSUMER = `
import nock from 'nock';
import { ConfigError, createGateway, type Gateway, type SettingsInput } from 'portico';
import { mockPlatform, startDemoPlatform, startGateway, type TestGateway } from 'portico/testing';

const settings: SettingsInput = {
  http: { port: 0 },
  upstreams: { projects: { baseUrl: 'https://platform.example', credential: { kind: 'header', name: 'X-Api-Key' } } },
  resources: { projects: { path: '/projects', pagination: { kind: 'link' } } },
};
const gateway: Gateway = createGateway(settings);
export const url: Promise<string> = gateway.start();
export const isMistake = (error: unknown): boolean => error instanceof ConfigError;
export const test: Promise<TestGateway> = startGateway({ upstreams: mockPlatform(nock).upstreams });
export const stall = async () => {
  (await startDemoPlatform()).behaviour.tools.fault = 'stall';
};
// @ts-expect-error upstreams is missing
createGateway({});
// @ts-expect-error there is no such list
mockPlatform(nock).list('players');
`;

/** What can be imported, with its values in the order of `Object.keys`. */
const EXPORTS = {
  portico: 'ConfigError,createGateway',
  'portico/testing': 'PLATFORM_URL,mockPlatform,startDemoPlatform,startGateway',
};

/** Runs each test of the page in a project. */
async function runPage(node: NodeOnHand, project: string): Promise<void> {
  const codes = codeBlocks(PAGE, 'js');
  expect(codes).to.have.length(3);
  for (const code of codes) {
    await writeFile(join(project, 'portico.test.mjs'), code);
    const tests = code.match(/^ {2}it\(/gm) ?? [];
    const said = await runToolOn(node, 'npx', ['mocha', 'portico.test.mjs'], project);
    expect(said).to.contain(`${tests.length} passing`);
  }
}

/** Ways in which TypeScript projects find packages, with the kind of module that asks. */
const RESOLUTIONS: Readonly<Record<string, readonly [file: string, ...options: string[]]>> = {
  nodenext: ['consumer.mts', '--module', 'nodenext'],
  'nodenext, of a CommonJS module': ['consumer.cts', '--module', 'nodenext'],
  bundler: ['consumer.ts', '--module', 'esnext', '--moduleResolution', 'bundler'],
};

describe('the package', function () {
  this.timeout(300_000);
  let packed: Packed;
  let version: string;

  before(async function () {
    await needsRegistry(this);
    packed = await pack();
    ({ version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  });

  it('holds what runs, its settings, examples and docs, and nothing else', async () => {
    expect(packed.files).to.deep.equal(await expectedFiles());
  });

  it('links to nothing that it does not hold', async () => {
    const held = new Set(packed.files.flatMap((file) => [file, `${dirname(file)}/`, `${dirname(dirname(file))}/`]));
    for (const page of packed.files.filter((file) => file.endsWith('.md'))) {
      const text = await readFile(join(ROOT, page), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)) {
        expect([...held], `${page} links to ${target}`).to.include(normalize(join(dirname(page), target)));
      }
    }
  });

  it('runs from a clone, too', async () => {
    const said = await runTool('npm', ['run', '--silent', 'portico', '--', '--version'], packed.clone);
    expect(said).to.equal(`${version}\n`);
  });

  for (const [name, find] of [
    ['this Node', async () => THIS_NODE],
    ['Node 22', () => nodeFromNpm('22')],
  ] as const) {
    describe(`on ${name}`, () => {
      let node: NodeOnHand;
      let project: string;
      let others: string[];

      before(async () => {
        node = await find();
        project = await temporaryFolder('project');
        // The page's own command, with the tarball in place of the published package.
        const [command = ''] = codeBlocks(PAGE, 'sh');
        const words = command.trim().split(' ');
        expect(words.slice(0, 3)).to.deep.equal(['npm', 'install', '--save-dev']);
        expect(words).to.include('portico');
        others = await asNewAsHere(words.slice(3).filter((word) => word !== 'portico'));
        await installIn(project, [packed.tarball, ...others], node.env);
      });

      it('runs by npx in an empty folder', async () => {
        const folder = await temporaryFolder('empty');
        const said = await runToolOn(
          node,
          'npx',
          ['--yes', '--package', packed.tarball, 'portico', '--version'],
          folder,
        );
        expect(said).to.equal(`${version}\n`);
      });

      it('is a command once installed for all, with the settings of the demo', async () => {
        const prefix = await temporaryFolder('global');
        await runToolOn(node, 'npm', ['install', '--global', '--prefix', prefix, packed.tarball], prefix);
        const command = join(prefix, 'bin/portico');
        expect(await runToolOn(node, command, ['--version'], prefix)).to.equal(`${version}\n`);
        const env = { ...porticoEnvironment({ PORT: '0', ADMIN_PORT: '0' }), ...node.env };
        const demo = startPortico(command, ['--demo'], env);
        const list = await fetch(`${await demo.ready}/mcp/v1/resources`, {
          headers: { authorization: 'Bearer demo-alice' },
        });
        expect(await list.json()).to.have.length(3);
        expect((await demo.stop()).code).to.equal(0);
      });

      it('checks an example that it holds, and prints the schema of settings', async () => {
        const example = 'node_modules/portico/config/examples/rapid7.yaml';
        expect(await runToolOn(node, 'npx', ['portico', 'check', example], project)).to.contain('OK');
        const schema = await readFile(join(ROOT, 'config/schema.json'), 'utf8');
        expect(await runToolOn(node, 'npx', ['portico', 'schema'], project)).to.equal(schema);
      });

      it('brings no Node of its own along', async () => {
        const found = await stat(join(project, 'node_modules/node')).catch((error) => error.code);
        expect(found).to.equal('ENOENT');
      });

      it('runs the tests of the contract-test page', () => runPage(node, project));

      it('runs them beside another undici', async () => {
        const crowded = await temporaryFolder('crowded');
        await installIn(crowded, [packed.tarball, ...others, 'undici@7'], node.env);
        await runPage(node, crowded);
      });

      it('runs them where it is linked from a folder that has a nock of its own', async () => {
        const linked = await temporaryFolder('linked');
        await installIn(linked, others, node.env);
        // By hand, as `npm link` would: npm itself might put the packages of the linked folder in order.
        await symlink(packed.clone, join(linked, 'node_modules/portico'));
        const [own, beside] = [join(packed.clone, 'node_modules/nock'), join(linked, 'node_modules/nock')];
        expect(await realpath(own)).not.to.equal(await realpath(beside));
        await runPage(node, linked);
      });

      for (const [name, exported] of Object.entries(EXPORTS)) {
        for (const [file, get] of [
          ['import.mjs', 'await import'],
          ['require.cjs', 'require'],
        ] as const) {
          it(`gives ${exported} of ${name} to ${file}`, async () => {
            await writeFile(join(project, file), `console.log(Object.keys(${get}('${name}')).join());`);
            const { stdout, stderr } = await runOn(node, [file], project);
            expect({ stdout, stderr }).to.deep.equal({ stdout: `${exported}\n`, stderr: '' });
          });
        }
      }

      for (const [resolution, [file, ...options]] of Object.entries(RESOLUTIONS)) {
        it(`brings types that hold without skipLibCheck, found by ${resolution}`, async () => {
          await writeFile(join(project, file), CONSUMER);
          const tsc = join(ROOT, 'node_modules/.bin/tsc');
          const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
          const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2024'];
          await runTool(tsc, [...strict, ...types, ...options, file], project);
        });
      }
    });
  }
});
