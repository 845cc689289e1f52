import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import threats from './threats.json' with { type: 'json' };

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The rows of the table, without its head and the lines that are titles. */
const page = read('SECURITY.md');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| Threat \|/.test(line))
  .filter((line) => !line.endsWith('| |'))
  .map((line) => line.slice(2, -2).split(' | '));

/** For each threat a test, by its file below `test/` and words of its name. */
const tests: Readonly<Record<string, readonly [file: string, words: string]>> = threats as never;

/** Names of tests, and of the loops that make them, as their file has them. */
function namesIn(source: string): string[] {
  return [...source.matchAll(/\bit\(\s*(['`])((?:\\.|(?!\1).)*)\1/gs)].map(([, , name = '']) => name);
}

describe('the table of threats', () => {
  it('has rows, each with a guard', () => {
    expect(rows.length).to.be.above(30);
    for (const row of rows) expect(row, row.join()).to.have.length(2);
  });

  it('names each threat once, and those that have a test', () => {
    expect(rows.map(([threat]) => threat)).to.deep.equal(Object.keys(tests));
  });

  for (const [threat, [path, words]] of Object.entries(tests)) {
    it(`has a test that exists: ${threat}`, () => {
      expect(existsSync(new URL(`test/${path}`, ROOT)), path).to.equal(true);
      const named = namesIn(read(`test/${path}`)).filter((each) => each.includes(words));
      expect(named, `${path} has no test that says "${words}"`).not.to.have.length(0);
    });
  }
});
