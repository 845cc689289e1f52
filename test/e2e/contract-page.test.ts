import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { codeBlocks } from '../support/docs.ts';

const root = new URL('../../', import.meta.url);

describe('the test on the contract-test page', () => {
  it('passes as it is written', () => {
    const [code = ''] = codeBlocks('docs/contract-tests.md', 'js');
    expect(code).to.contain("from 'portico'");
    const folder = new URL('node_modules/.cache/portico/', root);
    const file = new URL('portico.test.mjs', folder);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, code.replace("'portico'", `'${new URL('src/gateway.ts', root)}'`));
    try {
      const mocha = fileURLToPath(new URL('node_modules/mocha/bin/mocha.js', root));
      const { status, stdout, stderr } = spawnSync(process.execPath, [mocha, '--no-config', fileURLToPath(file)], {
        encoding: 'utf8',
        cwd: fileURLToPath(root),
        timeout: 30_000,
      });
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout).to.match(/2 passing/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }).timeout(40_000);
});
