import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** The rows of both tables, without their heads and the lines that are titles. */
const page = read('SECURITY.md');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Threat|Guidance) \|/.test(line))
  .filter((line) => !line.endsWith('| | |'))
  .map((line) => line.slice(2, -2).split(' | '));

/** All recommendations of the NSA (CSI U/OO/6030316-26). */
const RECOMMENDATIONS = [
  ...['Choose supported MCP projects when possible', 'Design for boundaries', 'Validate parameters'],
  ...['Constrain and sandbox tool execution', 'Sign and verify MCP messages', 'Instrument for logging and detection'],
  ...['Filter and monitor output pipelines and chained execution', 'Track and patch MCP related vulnerabilities'],
  'Scan local network for open or vulnerable MCP servers',
];

/** Names of tests, and of the loops that make them, as their file has them. */
function namesIn(source: string): string[] {
  return [...source.matchAll(/\bit\(\s*(['`])((?:\\.|(?!\1).)*)\1/gs)].map(([, , name = '']) => name);
}

describe('the tables of threats and of published guidance', () => {
  it('have rows, each with a guard and a test', () => {
    expect(rows.length).to.be.above(30);
    for (const row of rows) {
      expect(row, row.join()).to.have.length(3);
      expect(row[2]).to.match(/^`test\/[\w./-]+\.(?:test|e2e)\.ts`: .+$/);
    }
  });

  it('name each item of OWASP and each threat of CoSAI once', () => {
    const named = rows.flatMap(([guidance = '']) => [...guidance.matchAll(/`((?:MCP|T)\d+)`/g)].map(([, id]) => id));
    const items = (prefix: string, count: number, digits: number) =>
      Array.from({ length: count }, (_, index) => prefix + String(index + 1).padStart(digits, '0'));
    expect(named).to.have.members([...items('MCP', 10, 2), ...items('T', 12, 1)]);
  });

  it('name each recommendation of the NSA, or the text below them says why not', () => {
    const [, guidance = ''] = page.split('## Published guidance');
    const text = guidance.replaceAll(/\s+/g, ' ');
    const named = RECOMMENDATIONS.filter((one) => text.includes(`NSA: ${one} |`) || text.includes(`*${one}*`));
    expect(named).to.deep.equal(RECOMMENDATIONS);
  });

  it('name each threat once', () => {
    const threats = rows.map(([threat]) => threat);
    expect(threats.filter((threat, index) => threats.indexOf(threat) !== index)).to.deep.equal([]);
  });

  for (const [threat = '', , test = ''] of rows) {
    it(`name a test that exists: ${threat}`, () => {
      const [, path = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
      expect(existsSync(new URL(path, ROOT)), path).to.equal(true);
      const named = namesIn(read(path)).filter((each) => each.includes(name));
      expect(named, `${path} has no test that says "${name}"`).not.to.have.length(0);
    });
  }
});
