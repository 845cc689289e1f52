import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readDoc } from '../../support/docs.ts';
import { listen } from '../../support/listening.ts';
import { inFolder } from '../../support/process/process.ts';
import { createAcme } from './acme-platform.ts';
import { recordAgain } from './recording.ts';

const PAGE = 'docs/walk.md';

describe('the page of the walk', () => {
  // Whoever changes what a command says records the walk again: RECORD=1 npx mocha test/docs/walk/walk.e2e.ts
  it('shows the output of its commands', async () => {
    const page = readDoc(PAGE);
    const { url } = await listen(createAcme());
    const again = await inFolder(async (folder) => {
      await copyFile(new URL('acme.openapi.yaml', import.meta.url), join(folder, 'acme.openapi.yaml'));
      return recordAgain(page, { folder, instead: new Map([['https://soar.acme.example', url]]) });
    });
    if (process.env['RECORD'] === '1')
      await writeFile(fileURLToPath(new URL(`../../../${PAGE}`, import.meta.url)), again);
    else expect(again).to.equal(page);
  }).timeout(60_000);

  it('leads from a description to a read', () => {
    const typed = [...readDoc(PAGE).matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line);
    const commands = ['portico init', 'portico check', 'portico check --probe', 'portico serve', 'curl'];
    let at = -1;
    for (const command of commands) {
      at = typed.findIndex((line, index) => index > at && line.startsWith(command));
      expect(at, command).not.to.equal(-1);
    }
  });
});
