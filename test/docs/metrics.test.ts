import { expect } from 'chai';
import { unknownIn } from '../deploy/queries.ts';
import { readDoc } from '../support/docs.ts';

describe('the section on metrics', () => {
  it('uses existing metrics in its queries', () => {
    const [, section = ''] = readDoc('docs/operations.md').split('\n## Metrics\n');
    const [, table = ''] = section.split('| Question | Query |');
    const queries = [...table.slice(0, table.indexOf('\n\n')).matchAll(/`([^`]+)`/g)].map(([, query = '']) => query);
    expect(queries.length).to.be.greaterThan(5);
    for (const query of queries) expect(unknownIn(query.replaceAll('\\|', '|')), query).to.deep.equal([]);
  });
});
