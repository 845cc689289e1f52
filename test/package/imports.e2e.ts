import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { codeBlocks } from '../support/docs.ts';
import { newFolder, startProcess } from '../support/process/process.ts';
import { needsRegistry, runTool, toolEnvironment } from '../support/tools.ts';
import { asNewAsHere, installIn, type Packed, pack, ROOT } from './packed.ts';

const PAGE = 'docs/embedding.md';

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

async function runPage(project: string): Promise<void> {
  const codes = codeBlocks(PAGE, 'js', 'Contract tests');
  expect(codes).to.have.length(3);
  for (const code of codes) {
    await writeFile(join(project, 'portico.test.mjs'), code);
    const tests = code.match(/^ {2}it\(/gm) ?? [];
    const said = await runTool('npx', ['mocha', '--timeout', '30000', 'portico.test.mjs'], project);
    expect(said).to.contain(`${tests.length} passing`);
  }
}

/** Ways in which TypeScript projects find packages, with the kind of module that asks. */
const RESOLUTIONS: Readonly<Record<string, readonly [file: string, ...options: string[]]>> = {
  nodenext: ['consumer.mts', '--module', 'nodenext'],
  'nodenext, of a CommonJS module': ['consumer.cts', '--module', 'nodenext'],
  bundler: ['consumer.ts', '--module', 'esnext', '--moduleResolution', 'bundler'],
};

describe('an import of the package', function () {
  this.timeout(300_000);
  let packed: Packed;
  let project: string;

  before(async function () {
    await needsRegistry(this);
    packed = await pack();
    project = await newFolder();
    // The page's own command, with this tarball in place of its.
    const [command = ''] = codeBlocks(PAGE, 'sh');
    const words = command.trim().split(' ');
    expect(words.slice(0, 3)).to.deep.equal(['npm', 'install', '--save-dev']);
    expect(words[3]).to.equal(`./${basename(packed.tarball)}`);
    await installIn(project, [packed.tarball, ...(await asNewAsHere(words.slice(4)))]);
  });

  it('runs the tests of the contract-test page', () => runPage(project));

  for (const [name, exported] of Object.entries(EXPORTS)) {
    for (const [file, get] of [
      ['import.mjs', 'await import'],
      ['require.cjs', 'require'],
    ] as const) {
      it(`exports ${exported} of ${name} to ${file}`, async () => {
        await writeFile(join(project, file), `console.log(Object.keys(${get}('${name}')).join());`);
        const options = { cwd: project, env: toolEnvironment() };
        const { stdout, stderr } = await startProcess(process.execPath, [file], options).ended;
        expect({ stdout, stderr }).to.deep.equal({ stdout: `${exported}\n`, stderr: '' });
      });
    }
  }

  for (const [resolution, [file, ...options]] of Object.entries(RESOLUTIONS)) {
    it(`has types that compile without skipLibCheck, with resolution ${resolution}`, async () => {
      await writeFile(join(project, file), CONSUMER);
      const tsc = join(ROOT, 'node_modules/.bin/tsc');
      const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
      const strict = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2024'];
      await runTool(tsc, [...strict, ...types, ...options, file], project);
    });
  }
});
