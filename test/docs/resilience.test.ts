import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FAULTS } from '../e2e/reading/fault-matrix.ts';
import { faultTables } from './fault-tables.ts';

const PAGE = readFileSync(new URL('../../docs/resilience.md', import.meta.url), 'utf8');

describe('the page of resilience', () => {
  it('shows the fault matrix of the tests', () => {
    const [, shown] = /^<!-- fault matrix -->\n\n(.*)\n\n<!-- end of the fault matrix -->$/ms.exec(PAGE) ?? [];
    const tables = faultTables(FAULTS);
    expect(shown, `between its marks should stand:\n\n${tables}\n\n`).to.equal(tables);
  });
});
