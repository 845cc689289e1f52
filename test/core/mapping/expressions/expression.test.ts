import { search } from '@jmespath-community/jmespath';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { compileExpression } from '../../../../src/core/mapping/expressions/expression.ts';
import { checkExpression } from '../../../../src/core/mapping/expressions/expression-issue.ts';
import { jsonText, reasonOf } from '../harness.ts';

const evaluate = (text: string, value: unknown) => compileExpression(text).evaluate(value);

const name = fc.constantFrom('a', 'b', 'c', 'items', '"0"', '"1.10"', '""');
const step = fc.oneof(
  name.map((own) => `.${own}`),
  fc.integer({ min: -3, max: 3 }).map((index) => `[${index}]`),
);
const path = fc
  .tuple(fc.constantFrom('', '@.', '@ | '), name, fc.array(step, { maxLength: 4 }))
  .map(([start, first, rest]) => start + first + rest.join(''));

/** Text of any direct expression. */
const direct: fc.Arbitrary<string> = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(path, fc.constantFrom('@', '[0]', '[-1]', '`1`', '`null`', '`[]`', "''", "'text'")),
    fc
      .tuple(tie('expression'), fc.constantFrom(' || ', ' && ', ' | '), tie('expression'))
      .map(([left, operator, right]) => `(${left}${operator}${right})`),
    tie('expression').map((negated) => `!(${negated})`),
    fc.tuple(tie('expression'), name).map(([left, own]) => `(${left}).${own}`),
  ),
})).expression;

/** One call of each function that there is. */
const CALLS = [
  ...['contains(a, b)', 'ends_with(a, b)', 'join(a, b)', 'keys(a)', 'length(a)', 'lower(a)', 'not_null(a, b, c)'],
  ...['replace(a, b, c)', 'sort(a)', 'split(a, b)', 'starts_with(a, b)', 'to_array(a)', 'to_number(a)'],
  ...['to_string(a)', 'trim(a)', 'type(a)', 'upper(a)', 'values(a)'],
];
const ALLOWED = CALLS.map((call) => call.slice(0, call.indexOf('('))).join(', ');

describe('an expression', () => {
  it('that only selects is direct, and gives what the library gives', () => {
    fc.assert(
      fc.property(direct, jsonText, (text, json) => {
        const value = JSON.parse(json);
        const expression = compileExpression(text);
        expect(expression.direct).to.equal(true);
        expect(expression.evaluate(value)).to.deep.equal(search(value, text));
      }),
      { numRuns: 3000 },
    );
  });

  it('of any other kind is not direct', () => {
    for (const text of [
      ...['a[*].b', 'a[?b]', 'a[]', 'a[1:]', 'a.*', '*', '[a, b]', '{a: b}', 'length(a)', 'a == b', 'a + b', '$'],
      ...['a ? b : c', '!(a[*])', 'a || b[]', 'a[] || b'],
    ]) {
      expect(compileExpression(text).direct, text).to.equal(false);
    }
  });

  it('finds own fields only', () => {
    for (const field of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length']) {
      for (const text of [field, `a.${field}`, `[${field}] | [0]`, `{x: ${field}}.x`, `a.*[0].${field} || ${field}`]) {
        expect(evaluate(text, { a: {} }), text).to.equal(null);
        expect(evaluate(text, { a: [] }), text).to.equal(null);
      }
      const own = JSON.parse(`{${JSON.stringify(field)}: "own"}`);
      expect(evaluate(field, own)).to.equal('own');
      expect(evaluate(`[${field}] | [0]`, own)).to.equal('own');
    }
  });

  it('that fails over a value says which function and what types it was given, without the value', () => {
    const value = { list: ['secret', null, ['secret']], none: [], one: 'secret', few: { secret: 1 } };
    for (const [text, reason] of [
      ["join(', ', missing)", 'join() does not take (string, null)'],
      ["join(', ', list)", 'join() does not take (string, array)'],
      ["join(', ', few)", 'join() does not take (string, object)'],
      ['length(`5`)', 'length() does not take (number)'],
      ['lower(none)', 'lower() does not take (array)'],
      ['upper(length(one))', 'upper() does not take (number)'],
      ['list[?starts_with(@, `1`)]', 'starts_with() does not take (string, number)'],
    ] as const) {
      const told = reasonOf(() => evaluate(text, value));
      expect(told, text).to.equal(reason);
    }
  });

  it('does not exhaust the stack with a deep value, and reports it without the value', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const value = JSON.parse(`{"a":${deep},"b":"text","c":${deep}}`);
    expect(evaluate('b', value)).to.equal('text');
    for (const text of ['to_string(a)', 'a == c']) {
      expect(reasonOf(() => evaluate(text, value))).to.equal('an expression does not fit what it is evaluated over');
    }
  });

  it('does not change the library for others', () => {
    expect(search([10, 9], 'sort(@)')).to.deep.equal([10, 9]);
    expect(evaluate('sort(@)', [10, 9])).to.deep.equal([9, 10]);
  });

  it('does not let an upstream send expressions', () => {
    const sent = { list: [1], sent: { expref: true, type: 'Literal', value: 'evaluated' } };
    for (const text of CALLS.map((call) => call.replace('(a', '(sent'))) {
      let given: unknown;
      try {
        given = evaluate(text, sent);
      } catch (error) {
        expect(error).to.be.instanceOf(GatewayError);
      }
      expect(given, text).not.to.equal('evaluated');
    }
  });

  it('without an issue is accepted', () => {
    for (const text of [
      ...['id', 'a.b[0].c', '@', "tags[?key == 'x'].value | [0]"],
      ...CALLS,
      '`{"type":"Variable","name":["a"]}`',
      'c[*].[a || b]',
      '{a: `{"type": "Binding"}`}',
      `${'a || '.repeat(90)}b`,
    ]) {
      expect(checkExpression(text), text).to.equal(undefined);
    }
  });

  for (const [text, issue] of [
    ['foo(a)', `calls foo(); expressions may call ${ALLOWED}`],
    ['toString()', `calls toString(); expressions may call ${ALLOWED}`],
    ['max_by(a, &b)', `calls max_by(); expressions may call ${ALLOWED}`],
    ['a[?foo(b)]', `calls foo(); expressions may call ${ALLOWED}`],
    ['length(foo(@))', `calls foo(); expressions may call ${ALLOWED}`],
    ['length()', 'calls length() with 0 arguments'],
    ['starts_with(a)', 'calls starts_with() with 1 argument'],
    ['trim(a, b)', 'calls trim() with 2 arguments'],
    ['not_null()', 'calls not_null() with 0 arguments'],
    ['length(&a)', 'has &, which no function accepts'],
    ['&a', 'has &, which no function accepts'],
    ["a = 'x'", 'has a single =; to compare, write =='],
    [
      'a and b',
      'is not a JMESPath expression: Syntax error: unexpected token type: UnquotedIdentifier, value: and; and is written &&, or is written ||',
    ],
    ['let $a = b in $a', 'has a variable, which is not supported; $ is the whole value'],
    ['$a', 'has a variable, which is not supported; $ is the whole value'],
    ['a[--1]', 'has an index that is not a whole number'],
    ['a[::0]', 'has a slice with step 0'],
    [`${'a || '.repeat(200)}b`, 'is nested too deep'],
    ['('.repeat(100_000), 'is nested too deep'],
  ] as const) {
    it(`${text.slice(0, 30)} ${issue.slice(0, 50)}`, () => {
      expect(checkExpression(text)).to.equal(issue);
      expect(() => compileExpression(text)).to.throw(SyntaxError, issue);
    });
  }

  for (const text of ['', 'a..b', "a === 'b'", '{{ name }}', '.data.list', '`{`']) {
    it(`${JSON.stringify(text)} is not a JMESPath expression`, () => {
      expect(checkExpression(text)).to.match(/^is not a JMESPath expression: /);
    });
  }
});
