import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readDoc } from '../../support/docs.ts';
import { listen } from '../../support/listening.ts';
import { inFolder } from '../../support/process/process.ts';
import { ACME_KEY, createAcme, createWorkspaces } from './acme-platform.ts';
import { recordAgain } from './recording.ts';

const WALK = 'docs/walk.md';

/** The recorded pages, the platform of each, and its address on the page. */
const PAGES = [
  { page: WALK, createPlatform: createAcme, origin: 'https://soar.acme.example', environment: {} },
  {
    page: 'docs/onboarding.md',
    createPlatform: createWorkspaces,
    origin: 'https://api.acme.example',
    environment: { PORTICO_TOKEN: ACME_KEY },
  },
];

describe('a recorded page', () => {
  // After a change to a command's output: RECORD=1 npx mocha test/docs/walk/walk.e2e.ts
  for (const { page, createPlatform, origin, environment } of PAGES) {
    it(`shows the output of its commands: ${page}`, async () => {
      const { url } = await listen(createPlatform());
      const again = await inFolder(async (folder) => {
        await copyFile(new URL('acme.openapi.yaml', import.meta.url), join(folder, 'acme.openapi.yaml'));
        return recordAgain(readDoc(page), { folder, instead: new Map([[origin, url]]), environment });
      });
      if (process.env['RECORD'] === '1')
        await writeFile(fileURLToPath(new URL(`../../../${page}`, import.meta.url)), again);
      else expect(again).to.equal(readDoc(page));
    }).timeout(60_000);
  }

  it('leads from a description to a read', () => {
    const typed = [...readDoc(WALK).matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line);
    const commands = ['portico init', 'portico check', 'portico check --probe', 'portico serve', 'curl'];
    let at = -1;
    for (const command of commands) {
      at = typed.findIndex((line, index) => index > at && line.startsWith(command));
      expect(at, command).not.to.equal(-1);
    }
  });
});
