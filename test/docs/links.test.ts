import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { anchorsOf, documentation, readDoc } from '../support/docs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LINK = /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g;
const DECISION = /docs\/decisions\/(\d{4}(?:-[\w-]+\.md)?)/g;

const decisions = readdirSync(`${ROOT}docs/decisions`);

describe('the links of the documentation', () => {
  for (const page of documentation()) {
    it(`lead to files and headings that exist: ${page}`, () => {
      const text = readDoc(page).replaceAll(/^```.*?^```$/gms, '');
      const broken = [...text.matchAll(LINK)].filter(([, path = '', anchor]) => {
        const file = path === '' ? page : normalize(join(dirname(page), path));
        if (!existsSync(join(ROOT, file))) return true;
        return anchor !== undefined && file.endsWith('.md') && !anchorsOf(readDoc(file)).includes(anchor);
      });
      expect(broken.map(([link]) => link)).to.deep.equal([]);
    });
  }
});

describe('the decisions', () => {
  it('exist where sources and tests refer to them', () => {
    const files = ['src', 'test', 'config', 'deploy'].flatMap(filesIn).filter((file) => /\.(ts|yaml|md)$/.test(file));
    const missing = files.flatMap((file) =>
      [...readDoc(file).matchAll(DECISION)]
        .filter(([, name = '']) => !decisions.some((decision) => decision.startsWith(name)))
        .map(([reference]) => `${file}: ${reference}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('have a number of their own and fit on a page', () => {
    const numbers = decisions.map((file) => file.slice(0, 4));
    expect(new Set(numbers).size).to.equal(numbers.length);
    for (const file of decisions) expect(readDoc(`docs/decisions/${file}`).length, file).to.be.below(4500);
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath.slice(ROOT.length)}/${entry.name}`);
}
