import { expect } from 'chai';
import { withTools } from './with-tools.ts';

const tools = [
  { id: 'a', name: 'A', type: 'tab' },
  { id: 'b', name: 'B', type: 'tab' },
];

const holding = (list: readonly object[]) => ({ tools: list, nextPageToken: '' });

describe('a list with mapping warnings', () => {
  it('is served with allowEmpty, with one warning a minute that nothing is left, also after a reload', async () => {
    const { read, reload, doubts } = await withTools({ where: 'type == tab', allowEmpty: true }, () => holding(tools));
    for (let count = 0; count < 3; count += 1) expect(await read()).to.deep.equal({ status: 200, body: [] });
    expect(reload().applied).to.deep.equal(['log.level']);
    await read();
    expect(doubts()).to.have.length(1);
    const warning = { level: 'warn', resource: 'tools', upstream: 'tools', finding: 'nothing_left' };
    expect(doubts()[0]).to.include(warning);
  });

  it('is served, with one warning a minute for each field that is empty in all items', async () => {
    const { read, doubts } = await withTools({ fields: { category: 'other', version: 'release' } }, () =>
      holding(tools),
    );
    for (let count = 0; count < 3; count += 1) expect((await read()).status).to.equal(200);
    expect(doubts().map(({ finding, field }) => [finding, field])).to.have.deep.members([
      ['field_empty', 'category'],
      ['field_empty', 'version'],
    ]);
  });
});

/** So many tools, of which the first ones have the members. */
const manyTools = (count: number, members: object, having = count) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `t-${index}`, name: `Tool ${index}` },
    ...(index < having && members),
  }));

const VERSION = { version: '1.0.0' };
const LOST = 'field_lost version';
/** Five tools of the first kind, and one of each other. */
const kinds = (kind: string, ...others: string[]) => [
  ...manyTools(5, { kind }),
  ...others.map((other) => ({ id: other, name: 'X', kind: other })),
];
const VALUES = { fields: { category: { from: 'kind', values: { edr: 'EDR', siem: 'SIEM' } } } };

/** Two lists of a caller, one after the other, the warning about the second one, and settings. */
type Change = readonly [
  before: readonly object[],
  after: readonly object[],
  finding?: string | undefined,
  resource?: object,
];

const CHANGES: Readonly<Record<string, Change>> = {
  'a field that every item had': [manyTools(5, VERSION), manyTools(5, {}), LOST],
  'a field that five of many items had': [manyTools(50, VERSION, 5), manyTools(50, { version: null }), LOST],
  'a field with an expression, which has no other warning then': [
    manyTools(5, { release: '1.0.0' }),
    ...([manyTools(5, {}), LOST, { fields: { version: 'release' } }] as const),
  ],
  'a text that values does not map': [kinds('edr'), kinds('edr', 'xdr'), 'value_unmapped category', VALUES],
  'a text to which values maps another': [kinds('edr'), kinds('SIEM'), undefined, VALUES],
  'a field that few items had': [manyTools(50, VERSION, 4), manyTools(50, {})],
  'a field that one item still has': [manyTools(50, VERSION), manyTools(50, VERSION, 1)],
  'no items': [manyTools(5, VERSION), []],
};

describe('a list that differs from the last one of its caller', () => {
  for (const [what, [before, after, finding, resource = {}]] of Object.entries(CHANGES)) {
    it(`${finding === undefined ? 'is not reported' : 'is reported once'}: ${what}`, async () => {
      let held = before;
      const { read, doubts } = await withTools(resource, () => holding(held));
      await read();
      expect(doubts()).to.deep.equal([]);
      held = after;
      for (let count = 0; count < 3; count += 1) expect((await read()).body).to.have.length(after.length);
      const findings = doubts().map((each) => `${each['finding']} ${each['field']}`);
      expect(findings).to.deep.equal(finding === undefined ? [] : [finding]);
    });
  }

  it('is not reported where another caller has the other list', async () => {
    let held: readonly object[] = [];
    const { read, doubts } = await withTools({}, () => holding(held));
    for (const token of ['one', 'other', 'one', 'other']) {
      held = manyTools(5, token === 'one' ? VERSION : {});
      await read(token);
    }
    expect(doubts()).to.deep.equal([]);
  });
});
