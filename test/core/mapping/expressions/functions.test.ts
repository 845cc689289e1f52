import { search } from '@jmespath-community/jmespath';
import { expect } from 'chai';
import fc from 'fast-check';
import { compileExpression } from '../../../../src/core/mapping/expressions/expression.ts';
import { reasonOf } from '../harness.ts';

const evaluate = (text: string, value: unknown = {}) => compileExpression(text).evaluate(value);
const few = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\u00a0', '\n', '-', ']', '^', '$', '&'), maxLength: 12 });

describe('a function of texts', () => {
  it('trims as the library does', () => {
    fc.assert(
      fc.property(few, (text) => {
        expect(evaluate('trim(@)', text)).to.equal(search(text, 'trim(@)'));
      }),
    );
  });

  it('replaces as the library does, without patterns', () => {
    fc.assert(
      fc.property(few, fc.constantFrom('a', 'ab', ' '), fc.constantFrom('', 'x', '$&', 'xyz'), (text, old, by) => {
        const value = { text, old, by };
        expect(evaluate('replace(text, old, by)', value)).to.equal(text.split(old).join(by));
        if (by !== '$&')
          expect(evaluate('replace(text, old, by)', value)).to.equal(search(value, 'replace(text, old, by)'));
      }),
    );
    expect(evaluate("replace(@, 'b', '$&$&')", 'abb')).to.equal('a$&$&$&$&');
  });

  for (const [text, value, expected] of [
    ["join(', ', @)", ['a', 'b'], 'a, b'],
    ["join(', ', @)", [], ''],
    [
      "[contains(@, 'b'), starts_with(@, 'ab'), ends_with(@, 'ab'), ends_with('b', 'ab')]",
      'abc',
      [true, true, false, false],
    ],
    ["[contains(@, 'b'), contains(@, `1`)]", ['a', 'b', '1'], [true, false]],
    ["split(@, '/')", 'a/b', ['a', 'b']],
    ["[split(@, ''), split('', '')]", 'a/b', [['a', '/', 'b'], []]],
    ['contains(@, `1`)', '1', null],
    ['[length(@), lower(@), upper(@)]', 'aB😀', [3, 'ab😀', 'AB😀']],
  ] as const) {
    it(`joins, finds, splits, measures and changes case: ${text} of ${JSON.stringify(value)}`, () => {
      expect(evaluate(text, value)).to.deep.equal(expected);
    });
  }

  const long = 'a'.repeat(1000);
  for (const [text, value] of [
    ["replace(text, '', text)", { text: long }],
    ["replace(text, 'a', text)", { text: long }],
    ['join(text, parts)', { text: long, parts: Array(1000).fill('') }],
    ['to_string(parts[*].[$.text])', { text: long, parts: Array(1000).fill('x') }],
    ['to_string(parts)', { parts: Array(100_000).fill(0) }],
  ] as const) {
    it(`makes no text beyond bounds: ${text}`, () => {
      expect(reasonOf(() => evaluate(text, value))).to.equal('a function returns a text that is too long');
    });
  }

  for (const call of ['contains(text, sought)', 'split(text, sought)', "replace(text, sought, '')"]) {
    it(`looks for no text beyond 250 characters: ${call}`, () => {
      expect(evaluate(call, { text: long, sought: 'b'.repeat(250) })).not.to.equal(null);
      expect(reasonOf(() => evaluate(call, { text: long, sought: 'b'.repeat(251) }))).to.equal(
        'the text that a function searches for is too long',
      );
    });
  }

  it('leaves a long text alone that it does not lengthen', () => {
    const text = `x${' '.repeat(1_000_000)}x`;
    expect(evaluate("replace(@, ' ', 'b')", text)).to.equal(`x${'b'.repeat(1_000_000)}x`);
    expect(evaluate('trim(@)', text)).to.equal(text);
  });
});

describe('a function that orders', () => {
  it('orders numbers by value and texts by code unit', () => {
    expect(evaluate('sort(@)', [10, 9, -1])).to.deep.equal([-1, 9, 10]);
    expect(evaluate('sort(@)', ['b', 'a', 'B', 'ab', ''])).to.deep.equal(['', 'B', 'a', 'ab', 'b']);
    expect(evaluate('sort(@)', [])).to.deep.equal([]);
    // Nothing but these.
    for (const list of [[1, 'x'], [null], [true], [{}]]) {
      expect(reasonOf(() => evaluate('sort(@)', list))).to.match(/^sort\(\) does not take \(array\)$/);
    }
  });
});

describe('a function of any value', () => {
  it('converts and inspects values', () => {
    expect(evaluate('[keys(@), values(@)]', { a: 1, b: null })).to.deep.equal([
      ['a', 'b'],
      [1, null],
    ]);
    expect(evaluate('[to_array(a), to_array(b), not_null(c, a)]', { a: 1, b: [2] })).to.deep.equal([[1], [2], 1]);
    const types = ['number', 'string', 'boolean', 'array', 'object'];
    expect(evaluate('[*].type(@)', [1, '', true, [], {}])).to.deep.equal(types);
  });

  it('to_string writes JSON, and leaves texts', () => {
    for (const value of ['text', 1.5, true, null, [1, 'a'], { a: { b: [] } }]) {
      expect(evaluate('to_string(@)', value)).to.equal(search(value, 'to_string(@)'));
    }
  });

  it('to_string writes no number that may have lost digits', () => {
    for (const json of ['9007199254740993', '[1e30]', '{"a":{"b":-12345678901234567890}}', '1e400']) {
      expect(reasonOf(() => evaluate('to_string(@)', JSON.parse(json)))).to.equal('a number may have lost digits');
    }
  });

  it('to_number reads JSON numbers and nothing else', () => {
    for (const text of ['0', '-1.5', '1e3', '12']) expect(evaluate('to_number(@)', text)).to.equal(Number(text));
    for (const value of ['', ' 1', '0x1f', '01', '+1', 'Infinity', true, null, []]) {
      expect(evaluate('to_number(@)', value)).to.equal(null);
    }
    expect(evaluate('to_number(@)', 5)).to.equal(5);
  });
});
