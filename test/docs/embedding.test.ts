import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { codeBlocks } from '../support/docs.ts';
import { porticoEnvironment, startProcess } from '../support/process/process.ts';

const ROOT = new URL('../../', import.meta.url);
const PAGE = 'docs/embedding.md';
const blocks = (language: string) => codeBlocks(PAGE, language, 'In a program');

describe('the section on programs', () => {
  const folder = new URL('node_modules/.cache/portico-create-gateway/', ROOT);
  before(() => mkdirSync(folder, { recursive: true }));
  after(() => rmSync(folder, { recursive: true }));

  const printed = blocks('text');
  for (const [index, code] of blocks('js').entries()) {
    it(`has a program that prints the documented output: number ${index + 1}`, async () => {
      const file = new URL(`${index}.mjs`, folder);
      writeFileSync(file, code.replace("'portico'", `'${new URL('src/gateway.ts', ROOT)}'`));
      const {
        code: status,
        stdout,
        stderr,
      } = await startProcess(process.execPath, [fileURLToPath(file)], {
        env: porticoEnvironment(),
      }).ended;
      expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: printed[index], stderr: '' });
    });
  }

  it('has a program for each output', () => {
    expect(printed).to.have.length(blocks('js').length).and.not.to.have.length(0);
  });
});
