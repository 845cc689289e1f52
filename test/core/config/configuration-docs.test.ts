import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settingsJsonSchema } from '../../../src/core/config/json-schema.ts';
import { issuesIn } from './settings-file.ts';
import { settingsOf } from './settings-list.ts';
import { tablesOf } from './settings-tables.ts';

describe('docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');

  it('has a table for every block, and every setting in it as the schema has it', () => {
    const documented = new Map(
      page
        .split(/^### /m)
        .slice(1)
        .map((section) => [
          section.slice(0, section.indexOf('\n')).replaceAll('`', ''),
          section.split('\n').filter((line) => line.startsWith('| `')),
        ])
        .filter(([heading]) => !['Values from the environment', 'Issues'].includes(String(heading))) as [
        string,
        string[],
      ][],
    );
    const expected = tablesOf(settingsOf(JSON.parse(settingsJsonSchema())));
    expect([...documented.keys()]).to.have.members([...expected.keys()]);
    for (const [block, rows] of expected) expect(documented.get(block), block).to.deep.equal(rows);
  });

  it('shows the issues of its sample as they are told', async () => {
    const [, yaml = '', told = ''] = /```yaml\n(http:[^`]*)```[^`]*```text\n([^`]*)```/.exec(page) ?? [];
    const issues = await issuesIn(yaml);
    expect(told.trim().split('\n')).to.deep.equal(issues.map((issue) => `portico.yaml:${issue}`));
    expect(issues).to.have.length.greaterThan(5);
  });
});
