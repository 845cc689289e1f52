import { expect } from 'chai';
import { parseExposition } from '../../capabilities/metrics/scraped.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const tools = [
  { id: 'a', name: 'A', type: 'tab' },
  { id: 'b', name: 'B', type: 'tab' },
];

async function withTools(resource: object, list: readonly object[] = tools, more: object = {}) {
  const upstream = await startHttpUpstream(json({ tools: list, nextPageToken: '' }));
  const log = captureLog('info');
  const settings = settingsFor(upstream.url, {
    ...more,
    admin: { port: 0 },
    resources: { tools: { cache: { ttlMs: 0 }, ...resource } },
  });
  const { gateway, read } = await startGateway(settings, { logger: log.logger });
  return {
    reload: () => gateway.change({ ...settings, log: { level: 'warn' } }),
    /** The platform has other items from now on. */
    hold: (items: readonly object[]) => upstream.respond(json({ tools: items, nextPageToken: '' })),
    async read(token = 'token') {
      const response = await read('tools', { headers: { authorization: `Bearer ${token}` } });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    /** The counter of warnings with a finding. */
    async warned(finding: string) {
      const { series } = parseExposition(await (await fetch(`${gateway.adminUrl}/metrics`)).text());
      return [...series].reduce((sum, [name, count]) => sum + (name.includes(`finding="${finding}"`) ? count : 0), 0);
    },
    doubts: () => log.lines().filter(({ msg }) => msg === 'mapping warning'),
    requests: () => log.lines().filter(({ msg }) => msg === 'request'),
  };
}

describe('a list with mapping warnings', () => {
  it('is served with allowEmpty, with one warning a minute that nothing is left', async () => {
    const { read, doubts } = await withTools({ where: 'type == tab', allowEmpty: true });
    for (let count = 0; count < 3; count += 1) expect(await read()).to.deep.equal({ status: 200, body: [] });
    expect(doubts()).to.have.length(1);
    expect(doubts()[0]).to.include({
      level: 'warn',
      resource: 'tools',
      upstream: 'tools',
      finding: 'nothing_left',
    });
  });

  it('is not reported again within the minute after a reload', async () => {
    const { read, reload, doubts } = await withTools({ where: 'type == tab', allowEmpty: true });
    await read();
    expect(reload().applied).to.deep.equal(['log.level']);
    await read();
    expect(doubts()).to.have.length(1);
  });

  it('is served, with one warning a minute for each field that is empty in all items', async () => {
    const { read, doubts } = await withTools({ fields: { category: 'other', version: 'release' } });
    for (let count = 0; count < 3; count += 1) expect((await read()).status).to.equal(200);
    expect(doubts().map(({ finding, field }) => [finding, field])).to.have.deep.members([
      ['field_empty', 'category'],
      ['field_empty', 'version'],
    ]);
  });

  it('is upstream_invalid with strictMapping', async () => {
    const cases = [[{ fields: { category: 'other' } }, 'the field category is empty in every item']] as const;
    for (const [resource, what] of cases) {
      const { read, requests, doubts } = await withTools({ ...resource, strictMapping: true });
      const { status, body } = await read();
      expect(status).to.equal(502);
      expect(body).to.include({ code: 'upstream_invalid', upstream: 'tools' });
      expect(body['detail']).to.contain(what).and.to.contain('strictMapping');
      expect(requests()[0]).to.include({ reason: `${what} (strictMapping)` });
      expect(doubts()).to.deep.equal([]);
    }
  });

  it('has no warning when the platform has no items, when some are left, or for unmapped fields', async () => {
    const resource = { where: "type == 'tab'", fields: { category: 'type' }, strictMapping: true };
    for (const list of [[], tools, [...tools, { id: 'c', name: 'C', type: 'x' }]]) {
      const { read, doubts } = await withTools(resource, list);
      expect((await read()).status).to.equal(200);
      expect(doubts()).to.deep.equal([]);
    }
  });
});

/** So many tools, of which the first ones have the members. */
const manyTools = (count: number, members: object, having = count) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `t-${index}`, name: `Tool ${index}` },
    ...(index < having && members),
  }));

const VERSION = { version: '1.0.0' };
const VALUES = { fields: { category: { from: 'kind', values: { edr: 'EDR', siem: 'SIEM' } } } };

/** Two lists of a caller, one after the other, and the warnings about the second one. */
interface Change {
  readonly resource?: object;
  readonly before: readonly object[];
  readonly after: readonly object[];
  readonly findings: readonly (readonly [finding: string, field: string])[];
}

const CHANGES: Readonly<Record<string, Change>> = {
  'a field that every item had': {
    ...{ before: manyTools(5, VERSION), after: manyTools(5, {}) },
    findings: [['field_lost', 'version']],
  },
  'a field that five of many items had': {
    ...{ before: manyTools(50, VERSION, 5), after: manyTools(50, { version: null }) },
    findings: [['field_lost', 'version']],
  },
  'a field with a default': {
    resource: { fields: { version: { default: '0.0.0' } } },
    ...{ before: manyTools(5, VERSION), after: manyTools(5, {}) },
    findings: [['field_lost', 'version']],
  },
  'a field with an expression, which has no other warning then': {
    resource: { fields: { version: 'release' } },
    ...{ before: manyTools(5, { release: '1.0.0' }), after: manyTools(5, {}) },
    findings: [['field_lost', 'version']],
  },
  'a text that values does not map': {
    ...{ resource: VALUES, before: manyTools(5, { kind: 'edr' }) },
    after: [...manyTools(5, { kind: 'edr' }), { id: 'x', name: 'X', kind: 'xdr' }],
    findings: [['value_unmapped', 'category']],
  },
  'a text to which values maps another': {
    ...{ resource: VALUES, before: manyTools(5, { kind: 'edr' }), after: manyTools(5, { kind: 'SIEM' }) },
    findings: [],
  },
  'further texts that values does not map': {
    ...{ resource: VALUES, before: manyTools(5, { kind: 'xdr' }), after: manyTools(5, { kind: 'soar' }) },
    findings: [],
  },
  'a field that few items had': {
    ...{ before: manyTools(50, VERSION, 4), after: manyTools(50, {}) },
    findings: [],
  },
  'a field that one item still has': {
    ...{ before: manyTools(50, VERSION), after: manyTools(50, VERSION, 1) },
    findings: [],
  },
  'fewer than five items': {
    ...{ before: manyTools(5, VERSION), after: manyTools(4, {}) },
    findings: [],
  },
  'no items': { before: manyTools(5, VERSION), after: [], findings: [] },
};

describe('a list that differs from the last one of its caller', () => {
  for (const [what, { resource = {}, before, after, findings }] of Object.entries(CHANGES)) {
    const times = findings.length === 0 ? 'is not reported' : 'is reported once';
    it(`${times}: ${what}`, async () => {
      const { read, hold, doubts } = await withTools(resource, before);
      await read();
      expect(doubts()).to.deep.equal([]);
      hold(after);
      for (let count = 0; count < 3; count += 1) expect((await read()).body).to.have.length(after.length);
      expect(doubts().map(({ finding, field }) => [finding, field])).to.deep.equal(findings);
    });
  }

  it('is not reported where another caller has the other list', async () => {
    const { read, hold, doubts } = await withTools({}, manyTools(5, VERSION));
    for (const token of ['one', 'other', 'one', 'other']) {
      hold(manyTools(5, token === 'one' ? VERSION : {}));
      await read(token);
    }
    expect(doubts()).to.deep.equal([]);
  });

  it('is reported of the last callers, so many as maxCompared', async () => {
    const { read, hold, doubts } = await withTools({}, manyTools(5, VERSION), { maxCompared: 1 });
    for (const token of ['one', 'other']) await read(token);
    hold(manyTools(5, {}));
    await read('one');
    expect(doubts()).to.deep.equal([]);
    hold(manyTools(5, VERSION));
    await read('one');
    hold(manyTools(5, {}));
    await read('one');
    expect(doubts()).to.have.length(1);
  });

  it('is reported after a reload that does not concern it', async () => {
    const { read, hold, reload, doubts } = await withTools({}, manyTools(5, VERSION));
    await read();
    expect(reload().applied).to.deep.equal(['log.level']);
    hold(manyTools(5, {}));
    await read();
    expect(doubts()).to.have.length(1);
  });

  it('has its warning with each load of any caller, until a list has the field again', async () => {
    const { read, hold, warned } = await withTools({}, manyTools(5, VERSION));
    await read('one');
    hold(manyTools(5, {}));
    await read('other');
    expect(await warned('field_lost')).to.equal(0);
    for (const token of ['one', 'other']) await read(token);
    expect(await warned('field_lost')).to.equal(2);
    hold(manyTools(5, VERSION, 1));
    await read('other');
    hold(manyTools(5, {}));
    await read('other');
    expect(await warned('field_lost')).to.equal(2);
  });
});
