import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The rows of the table, without its head and the lines that are titles. */
const page = read('SECURITY.md');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| Threat \|/.test(line))
  .filter((line) => !line.endsWith('| | |'))
  .map((line) => line.slice(2, -2).split(' | '));

/** Names of tests, and of the loops that make them, as their file has them. */
function namesIn(source: string): string[] {
  return [...source.matchAll(/\bit\(\s*(['`])((?:\\.|(?!\1).)*)\1/gs)].map(([, , name = '']) => name);
}

describe('the table of threats', () => {
  it('have rows, each with a guard and a test', () => {
    expect(rows.length).to.be.above(30);
    for (const row of rows) {
      expect(row, row.join()).to.have.length(3);
      expect(row[2]).to.match(/^`[\w./-]+\.(?:test|e2e)\.ts`: .+$/);
    }
  });

  it('name each threat once', () => {
    const threats = rows.map(([threat]) => threat);
    expect(threats.filter((threat, index) => threats.indexOf(threat) !== index)).to.deep.equal([]);
  });

  for (const [threat = '', , test = ''] of rows) {
    it(`name a test that exists: ${threat}`, () => {
      const [, path = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
      expect(existsSync(new URL(`test/${path}`, ROOT)), path).to.equal(true);
      const named = namesIn(read(`test/${path}`)).filter((each) => each.includes(name));
      expect(named, `${path} has no test that says "${name}"`).not.to.have.length(0);
    });
  }
});
