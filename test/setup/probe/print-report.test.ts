import { expect } from 'chai';
import { printReport } from '../../../src/setup/probe/print-report.ts';
import type { ResourceReport } from '../../../src/setup/probe/probe-report.ts';

const READ: ResourceReport = {
  ...{ resource: 'tools', uri: 'platform://tools', upstream: 'acme', ok: true, ms: 7, pages: 1, items: 1 },
  request: { method: 'GET', url: 'https://a.example/tools', headers: { accept: 'application/json' } },
  response: { status: 200, contentType: '', ms: 5 },
  ...{ excluded: 0, dropped: 0, extraRequests: 0 },
  ...{ signs: [], emptyFields: [], warnings: [], notTried: [] },
};

/** A report of one resource, each colour as its name. */
const print = (report: Partial<ResourceReport>) =>
  printReport(
    { file: 'p.yaml', strict: false, ok: report.ok ?? true, resources: [{ ...READ, ...report }] },
    (style, text) => (style === 'dim' ? text : `<${style}>${text}</${style}>`),
  );

describe('the report of a probe, for a person', () => {
  it('counts what is not served, and names fields that are empty but for those that it warns of', () => {
    const warning = { finding: 'field_empty', field: 'category', text: 'category is empty in every item' } as const;
    const counts = { pages: 2, items: 3, excluded: 4, dropped: 5, emptyFields: ['version', 'category'] };
    const unserved = '4 excluded by where, 5 dropped because they could not be mapped';
    expect(print({ ...counts, warnings: [warning] }))
      .to.contain(`<green>3 items of 2 pages</green> after 7 ms, ${unserved}\n`)
      .and.contain('  empty in all items: version\n')
      .and.contain('  <yellow>warning:</yellow> category is empty in every item\n');
  });

  it('shows no more than forty lines of an item', () => {
    const raw = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, index]));
    const shown = print({ first: { raw, from: { id: 'k0' }, mapped: { id: '0' } } });
    expect(shown).to.contain('"k38": 38,\n      …\n  and as it is served\n      id (k0)  0\n').and.not.contain('"k39"');
  });

  const error = { code: 'upstream_failed', reason: 'the connection was refused' };

  it('states that nothing was sent', () => {
    const { request: _none, ...unsent } = READ;
    const report = { file: 'p.yaml', strict: false, ok: false, resources: [{ ...unsent, ok: false, error }] };
    expect(printReport(report, (_style, text) => text)).to.contain('  nothing was sent\n');
  });

  it("shows the platform's reply, and the header of the token", () => {
    const refused = { ...error, said: '{"no":1}', headers: { location: '/x' }, credentialHeaders: ['x-api-key'] };
    expect(print({ ok: false, error: refused })).to.contain(
      '      location: /x\n' +
        '  the platform said: {"no":1}\n  the token was sent in the header x-api-key; upstreams.acme.credential can define another\n',
    );
    expect(print({ ok: false, error: { ...error, credentialHeaders: [] } })).to.contain(
      '  no token was sent: upstreams.acme.credential has kind: none\n',
    );
    const own = { ...error, code: 'upstream_credential_rejected', credentialHeaders: ['x-api-key'] };
    expect(print({ ok: false, error: own })).to.contain(
      '  the secret of the deployment was sent in the header x-api-key, as upstreams.acme.credential defines\n',
    );
  });
});
