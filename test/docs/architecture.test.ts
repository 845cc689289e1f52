import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readDoc } from '../support/docs.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const PAGE = readDoc('docs/architecture.md');

/** The first cells of the rows of the table whose head begins with `head`. */
function rowsBelow(head: string): string[][] {
  const [, table = ''] = PAGE.split(`| ${head} |`);
  return table
    .slice(0, table.indexOf('\n\n'))
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
}

function foldersIn(folder: string): string[] {
  return readdirSync(`${SOURCES}${folder}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

describe('the page on the architecture', () => {
  for (const folder of ['core', 'capabilities']) {
    it(`names every folder of src/${folder}, and no other`, () => {
      const named = rowsBelow(`Folder of \`src/${folder}/\` | ${folder === 'core' ? 'Content' : 'Feature'}`);
      expect(named.map(([, name]) => name)).to.have.members(foldersIn(folder));
    });
  }

  it('names files and folders of src/ that exist', () => {
    const top = readdirSync(SOURCES);
    const [, drawing = ''] = PAGE.split('```text\n');
    for (const name of ['main.ts', 'gateway.ts', 'commands', 'testing', 'capabilities', 'setup', 'demo', 'core']) {
      expect(top).to.include(name);
      expect(drawing).to.include(name);
    }
  });

  for (const [, name = '', file = ''] of rowsBelow('Function | File in `src/core/` | Concern')) {
    it(`names a function that exists: ${name}`, () => {
      expect(readFileSync(`${SOURCES}core/${file}`, 'utf8')).to.match(new RegExp(`^export function ${name}\\b`, 'm'));
    });
  }
});
