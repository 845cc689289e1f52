import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { issuesIn } from './settings-file.ts';

describe('docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');

  it('shows the issues of its sample as they are reported', async () => {
    const [, yaml = '', reported = ''] = /```yaml\n(http:[^`]*)```[^`]*```text\n([^`]*)```/.exec(page) ?? [];
    const issues = await issuesIn(yaml);
    expect(reported.trim().split('\n')).to.deep.equal(issues.map((issue) => `portico.yaml:${issue}`));
    expect(issues).to.have.length.greaterThan(5);
  });
});
