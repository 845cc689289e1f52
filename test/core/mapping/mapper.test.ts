import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { FieldOptions } from '../../../src/core/mapping/field.ts';
import {
  addCounts,
  createMapper,
  type MapperOptions,
  type MappingCounts,
  NO_COUNTS,
} from '../../../src/core/mapping/mapper.ts';
import { createPageParser } from '../../../src/core/mapping/page.ts';
import { jsonText, numberLiteral, reasonOf } from './harness.ts';

const field = (from: string, more: Partial<FieldOptions> = {}): FieldOptions => ({
  from,
  default: '',
  values: {},
  format: 'none',
  ...more,
});

/** Maps the text of a list of items. */
function map(list: string, fields: MapperOptions['fields'], more: Partial<MapperOptions> = {}, items = '@') {
  return createMapper({ fields, required: [], invalidItems: 'fail', ...more })(createPageParser({ items })(list));
}

/** The text of the one field of the one item. */
const one = (item: string, options: FieldOptions, more: Partial<MapperOptions> = {}) =>
  map(`[${item}]`, { x: options }, more).items[0]?.['x'];

describe('a mapped item', () => {
  it('has exactly the fields of the settings, in their order', () => {
    const { items, dropped } = map('[{"a":"1","b":"2","c":"3"},{"c":"4"}]', { c: field('c'), a: field('a') });
    expect(JSON.stringify(items)).to.equal('[{"c":"3","a":"1"},{"c":"4","a":""}]');
    expect(dropped).to.equal(0);
  });

  it('takes the default unchanged for what is missing or null', () => {
    const options = field('a', { default: 'v1', values: { v1: 'other', '': 'empty' }, format: 'version' });
    expect(one('{}', options)).to.equal('v1');
    expect(one('{"a":null}', options)).to.equal('v1');
    expect(one('"no object"', options)).to.equal('v1');
    expect(one('{"a":""}', field('a', { default: 'none' }))).to.equal('');
  });

  it('has booleans as words', () => {
    expect(one('{"a":true}', field('a'))).to.equal('true');
    expect(one('{"a":false}', field('a', { values: { false: 'OFF' } }))).to.equal('OFF');
  });

  it('may be made of an item that is no object', () => {
    expect(map('["a",1.0,true]', { x: field('@') }).items).to.deep.equal([{ x: 'a' }, { x: '1.0' }, { x: 'true' }]);
  });

  it('looks values up before formatting, among own names only', () => {
    const options = field('a', { values: { latest: 'v9', '1.10': 'v7' }, format: 'version' });
    expect(one('{"a":"latest"}', options)).to.equal('9.0.0');
    expect(one('{"a":1.10}', options)).to.equal('7.0.0');
    expect(one('{"a":"v1.2"}', options)).to.equal('1.2.0');
    expect(one('{"a":"constructor"}', options)).to.equal('constructor');
    expect(one('{"a":"1"}', field('a', { values: { 1: '' }, default: 'none' }))).to.equal('');
  });

  it('is invalid with an object or a list for a text', () => {
    for (const value of ['{}', '[]', '{"secret":1}', '["secret"]']) {
      expect(reasonOf(() => map(`[{},{"a":${value}}]`, { x: field('a') }))).to.equal(
        'field x of item 1 is an object or a list',
      );
    }
  });

  it('is invalid with a required field empty', () => {
    for (const [item, options] of [
      ['{}', field('a')],
      ['{"a":""}', field('a', { default: 'none' })],
      ['{"a":"gone"}', field('a', { values: { gone: '' } })],
      ['{"a":" "}', field('a', { format: 'version' })],
    ] as const) {
      expect(reasonOf(() => one(item, options, { required: ['x'] }))).to.equal(
        'field x of item 0 is required and empty',
      );
    }
    expect(one('{}', field('a', { default: 'none' }), { required: ['x'] })).to.equal('none');
  });
});

describe('a mapped number', () => {
  it('is its source text, wherever a direct expression finds it', () => {
    const expressions = ['a', 'b.c', 'd[0]', 'd[-1]', 'missing || b.c', 'a && b.c', '@ | b | c'];
    fc.assert(
      fc.property(fc.array(numberLiteral, { minLength: 1 }), fc.constantFrom(...expressions), (literals, from) => {
        const list = literals.map((n) => `{"a":${n},"b":{"c": ${n}},"d":[${n} , ${n}],"text":"${n}","x\\"":1.0}`);
        const expected = literals.map((x) => ({ x }));
        expect(map(`[${list.join(', ')}]`, { x: field(from) }).items).to.deep.equal(expected);
        expect(map(`{"l":[${list.join()}]}`, { x: field(from) }, {}, 'l[?!none]').items).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('of a computed expression is printed, unless it may have lost digits', () => {
    expect(one('{"a":1.10}', field('[a] | [0]'))).to.equal('1.1');
    expect(one('{"a":3}', field('a * `2`'))).to.equal('6');
    expect(one('{"b":1.0}', field('a || `5`'))).to.equal('5');
    expect(one('{"a":9007199254740991}', field('a * `1`'))).to.equal('9007199254740991');
    for (const [value, from] of [
      ['9007199254740993', '[a] | [0]'],
      ['-12345678901234567890', 'a + `0`'],
      ['1e400', 'to_number(a)'],
      ['1e308', 'a * `10`'],
      ['1', 'a % `0`'],
    ] as const) {
      expect(reasonOf(() => one(`{"a":${value}}`, field(from)))).to.equal(
        'field x of item 0 is a number that may have lost digits',
      );
    }
    expect(reasonOf(() => one('{"a":12345678901234567890}', field('to_string(a)')))).to.equal(
      'field x of item 0 cannot be evaluated: a number may have lost digits',
    );
  });

  it('of an item that the items expression put together is printed, unless it may have lost digits', () => {
    const page = (id: string) => map(`{"list":[{"id":${id}}]}`, { x: field('id') }, {}, 'list[*].{id: id}').items;
    expect(page('1.10')).to.deep.equal([{ x: '1.1' }]);
    expect(reasonOf(() => page('12345678901234567890'))).to.equal(
      'field x of item 0 is a number that may have lost digits',
    );
  });
});

describe('a mapped time', () => {
  const time = field('a', { format: 'timestamp', default: 'never' });

  for (const [value, text] of [
    ['"2024-03-05T10:20:30+02:00"', '2024-03-05T08:20:30Z'],
    ['"1700000000"', '2023-11-14T22:13:20Z'],
    // A number of few digits is an epoch, and no year.
    ['2024', '1970-01-01T00:33:44Z'],
    ['-0', '1970-01-01T00:00:00Z'],
    ['1700000000.10', '2023-11-14T22:13:20.100Z'],
    ['1700000000.123456789', '2023-11-14T22:13:20.123Z'],
    ['1.7e9', '2023-11-14T22:13:20Z'],
  ] as const) {
    it(`is ISO 8601 UTC: of ${value}`, () => expect(one(`{"a":${value}}`, time)).to.equal(text));
  }

  it('is missing where the text is empty', () => {
    expect(one('{"a":""}', time)).to.equal('never');
    expect(one('{"a":0}', { ...time, values: { 0: '' } })).to.equal('never');
    expect(one('{"a":2024}', { ...time, values: { 2024: '2024-01-01' } })).to.equal('2024-01-01T00:00:00Z');
  });

  it('makes the item invalid where it is none', () => {
    for (const value of ['"secret"', '"2024-02-30"', 'true', '1e30']) {
      expect(reasonOf(() => one(`{"a":${value}}`, time))).to.equal('field x of item 0 is not a timestamp');
    }
  });
});

describe('where', () => {
  it('keeps the items for which it is truthy as JMESPath has it', () => {
    const list =
      '[{"a":0},{"a":""},{"a":[]},{"a":{}},{"a":null},{"a":false},{},{"a":"x"},{"a":[0]},{"a":{"b":0}},{"a":true}]';
    const { items, dropped } = map(list, { x: field('to_string(a)') }, { where: 'a' });
    expect(items.map(({ x }) => x)).to.deep.equal(['0', 'x', '[0]', '{"b":0}', 'true']);
    expect(dropped).to.equal(0);
  });

  it('makes an item invalid over which it cannot be evaluated', () => {
    const list = '[{"a":"secret"},{"a":5}]';
    expect(reasonOf(() => map(list, {}, { where: 'length(a)' }))).to.equal(
      'where cannot be evaluated over item 1: length() does not take (number)',
    );
    const { items, dropped } = map(list, {}, { where: 'length(a)', invalidItems: 'drop' });
    expect({ items, dropped }).to.deep.equal({ items: [{}], dropped: 1 });
  });
});

describe('a mapper', () => {
  it('counts how many items took the default of each field, but none that it drops', () => {
    const list = '[{"a":"1","t":""},{"a":null,"t":"2024-05-06"},{"a":"","t":null},{"a":[]},{"b":"x"}]';
    const time = field('t', { format: 'timestamp' });
    const fields = { x: field('a', { default: 'none' }), y: time, z: field('z'), w: field('w') };
    const { items, dropped, fields: counts } = map(list, fields, { where: '!b', invalidItems: 'drop' });
    expect([items.length, dropped]).to.deep.equal([3, 1]);
    const defaulted = [...counts].map(([name, count]) => [name, count.defaulted]);
    expect(Object.fromEntries(defaulted)).to.deep.equal({ x: 1, y: 2, z: 3, w: 3 });
  });

  it('drops nothing after an internal error', () => {
    const broken = { body: [], items: [1.5], enclosing: [], exactItems: () => expect.fail('a bug') };
    const mapper = createMapper({ fields: { x: field('@') }, required: [], invalidItems: 'drop' });
    expect(() => mapper(broken)).to.throw('a bug');
  });

  it('looks for exact numbers only where a number is mapped', () => {
    const page = { body: [], items: [{ a: 'text', b: 5 }], enclosing: [], exactItems: () => expect.fail('not needed') };
    const mapper = createMapper({ fields: { x: field('a') }, required: [], where: 'b', invalidItems: 'fail' });
    expect(mapper(page).items).to.deep.equal([{ x: 'text' }]);
  });

  const from = fc.constantFrom(
    ...['a', 'b.a', 'c[0]', '@', '`1`', 'a || b', '!a', 'items', 'length(@)', 'a.*', 'to_string(@)', 'a + b'],
    'trim(a)',
    ...['a[?b].c | [0]', 'toString', 'constructor.name', '"__proto__"', 'sort(a)', 'join(b, a)'],
  );
  const options = fc.record({
    from,
    default: fc.constantFrom('', 'default'),
    values: fc.constantFrom({}, { true: '', '0': 'zero', '1.10': '2024' }),
    format: fc.constantFrom('none', 'none', 'timestamp', 'version'),
  }) satisfies fc.Arbitrary<FieldOptions>;

  it('makes items of exactly the documented fields, all strings, of any JSON; or says upstream_invalid', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          jsonText,
          fc.array(jsonText).map((list) => `{"items":[${list.join()}]}`),
        ),
        fc.constantFrom('@', 'items', 'items[]', 'items[?a]', '*[]', 'items[*].{a: a}'),
        fc.record({ id: options, name: options, createTime: options }),
        fc.record({
          required: fc.constantFrom([], ['id', 'name']),
          where: fc.oneof(fc.constant(undefined), from),
          invalidItems: fc.constantFrom('fail', 'drop'),
        }) satisfies fc.Arbitrary<Partial<MapperOptions>>,
        (text, items, fields, more) => {
          try {
            const page = createPageParser({ items })(text);
            const mapped = createMapper({ fields, ...more })(page);
            expect(mapped.items.length + mapped.dropped).to.be.at.most(page.items.length);
            if (more.where === undefined) expect(mapped.items.length + mapped.dropped).to.equal(page.items.length);
            if (more.invalidItems === 'fail') expect(mapped.dropped).to.equal(0);
            for (const item of mapped.items) {
              expect(Object.keys(item)).to.deep.equal(Object.keys(fields));
              for (const value of Object.values(item)) expect(value).to.be.a('string');
              for (const name of more.required) expect(item[name]).to.not.equal('');
            }
          } catch (error) {
            expect(error).to.be.instanceOf(GatewayError).and.have.property('code', 'upstream_invalid');
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('survives items that nest deeper than the call stack reaches', () => {
    const deep = `${'['.repeat(100_000)}1.10${']'.repeat(100_000)}`;
    const list = `[{"id":1.10,"a":${deep}}]`;
    expect(one(list.slice(1, -1), field('id'))).to.equal('1.10');
    expect(map(`{"items":${list}}`, { x: field('id') }, {}, 'items[?id]').items).to.deep.equal([{ x: '1.10' }]);
    for (const from of ['a', 'to_string(a)', 'a[]']) {
      const reason = reasonOf(() => map(list, { x: field(from) }));
      expect(reason, from).to.match(/^field x of item 0 /);
    }
  });
});

describe('the counts of two parts of a list', () => {
  it('add up', () => {
    const counts = (more: Partial<MappingCounts>): MappingCounts => ({ ...NO_COUNTS, ...more });
    const fields = (of: Record<string, [number, number, number]>) =>
      new Map(
        Object.entries(of).map(([name, [defaulted, filled, unmapped]]) => [
          name,
          { defaulted, filled, unmapped, isExpected: name === 'x' },
        ]),
      );
    const a = counts({
      ...{ received: 3, excluded: 1, dropped: 1, dropReason: 'first', overlooked: undefined, repeatedIds: 1 },
      fields: fields({ x: [1, 2, 0], y: [0, 1, 1] }),
    });
    const b = counts({
      ...{ received: 2, dropReason: 'second', overlooked: 'some', repeatedIds: 2 },
      fields: fields({ x: [1, 1, 1], y: [2, 0, 0] }),
    });
    expect(addCounts(a, b)).to.deep.equal({
      ...{ received: 5, excluded: 1, dropped: 1, dropReason: 'first', overlooked: 'some', repeatedIds: 3 },
      fields: fields({ x: [2, 3, 1], y: [2, 1, 1] }),
    });
    expect(addCounts(a, NO_COUNTS)).to.deep.equal(a);
    expect(addCounts(NO_COUNTS, a)).to.deep.equal(a);
  });
});
