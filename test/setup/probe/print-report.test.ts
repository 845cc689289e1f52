import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { printReport, type ResourceReport } from '../../../src/setup/probe/probe-report.ts';

const READ: ResourceReport = {
  ...{ resource: 'tools', uri: 'platform://tools', upstream: 'acme', ok: true, ms: 7, pages: 1, items: 1 },
  request: { method: 'GET', url: 'https://a.example/tools', headers: { accept: 'application/json' } },
  ...{ excluded: 0, dropped: 0, extraRequests: 0 },
  ...{ signs: [], emptyFields: [], warnings: [], notTried: [] },
};
const WARNING = { finding: 'field_empty', field: 'category', text: 'category is empty in every item' } as const;

const print = (report: Partial<ResourceReport>, strict = false) => {
  const { ok = true } = report;
  return stripVTControlCharacters(printReport({ file: 'p.yaml', strict, ok, resources: [{ ...READ, ...report }] }));
};

describe('the report of a probe, for a person', () => {
  it('is YAML without what is empty, a line for each warning, and one with the result', () => {
    const notTried = [{ experiment: 'query', why: 'it needs more than 24 requests' }];
    const [block = '', result] = print({ dropped: 5, warnings: [WARNING], notTried }).split('\n\n');
    const [yaml = '', ...lines] = block.split(/\n(?=warning:|not tried:)/);
    expect(parse(yaml)).to.deep.equal({
      ...{ resource: 'tools', uri: 'platform://tools', upstream: 'acme', ok: true, ms: 7, pages: 1, items: 1 },
      ...{ request: READ.request, dropped: 5 },
    });
    expect(lines).to.deep.equal([`warning: ${WARNING.text}`, 'not tried: query: it needs more than 24 requests']);
    const doubts = '1 warning and 1 experiment not tried';
    expect(result).to.equal(`p.yaml: OK: 1 of 1 resources could be read, with ${doubts}\n`);
  });

  it('states that all was read whole only without any doubt', () => {
    expect(print({})).to.contain('p.yaml: OK: 1 of 1 resources could be read whole\n');
    expect(print({ ok: false }, true)).to.contain('FAILED (--strict): 0 of 1 resources could be read whole\n');
  });
});
