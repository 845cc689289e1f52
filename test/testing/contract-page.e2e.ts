import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FAULT_KINDS } from '../../src/demo/faults.ts';
import { codeBlocks, readDoc } from '../support/docs.ts';

const root = new URL('../../', import.meta.url);
const PAGE = 'docs/embedding.md';

describe('the contract-test page', () => {
  const folder = new URL('node_modules/.cache/portico/', root);
  before(() => mkdirSync(folder, { recursive: true }));
  after(() => rmSync(folder, { recursive: true }));

  for (const [index, code] of codeBlocks(PAGE, 'js', 'Contract tests').entries()) {
    const [, name = ''] = /describe\('([^']+)'/.exec(code) ?? [];
    it(`has a test that passes as it is written: ${name}`, () => {
      expect(code).to.contain("from 'portico/testing'");
      const file = new URL(`portico-${index}.test.mjs`, folder);
      writeFileSync(file, code.replace("'portico/testing'", `'${new URL('src/testing/testing.ts', root)}'`));
      const mocha = fileURLToPath(new URL('node_modules/mocha/bin/mocha.js', root));
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [mocha, '--no-config', '--timeout', '30000', fileURLToPath(file)],
        {
          encoding: 'utf8',
          cwd: fileURLToPath(root),
          timeout: 30_000,
        },
      );
      expect({ status, stderr }, stdout).to.deep.equal({ status: 0, stderr: '' });
      const tests = [...code.matchAll(/^ {2}it\(/gm)];
      expect(stdout).to.contain(`${tests.length} passing`);
    }).timeout(40_000);
  }

  it('names every fault of the demo platform', () => {
    const text = readDoc(PAGE);
    expect(FAULT_KINDS.filter((kind) => !text.includes(`\`${kind}\``))).to.deep.equal([]);
  });
});
