import { search } from '@jmespath-community/jmespath';
import { expect } from 'chai';
import fc from 'fast-check';
import { compileExpression } from '../../../src/mapping/expression.ts';
import { reasonOf } from '../harness.ts';

const evaluate = (text: string, value: unknown = {}) => compileExpression(text).evaluate(value);
const few = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\u0085', '\u00a0', '\n', '-', ']', '^'), maxLength: 12 });

describe('a function of texts', () => {
  it('trims as the library does', () => {
    fc.assert(
      fc.property(fc.constantFrom('trim', 'trim_left', 'trim_right'), few, few, (trim, text, characters) => {
        for (const call of [`${trim}(text)`, `${trim}(text, characters)`]) {
          expect(evaluate(call, { text, characters }), call).to.equal(search({ text, characters }, call));
        }
      }),
    );
  });

  it('trims whole characters', () => {
    expect(evaluate("trim(@, '😀')", '😀😁x😁😀')).to.equal('😁x😁');
    expect(evaluate("trim_left(@, '😀')", '😀')).to.equal('');
    expect(evaluate("trim_right(@, '😀')", '😀')).to.equal('');
  });

  it('trims in linear time', () => {
    const text = `x${' '.repeat(200_000)}x`;
    const begun = performance.now();
    expect(evaluate('trim(@)', text)).to.equal(text);
    expect(performance.now() - begun).to.be.below(2000);
  });

  it('replaces as the library does, without patterns', () => {
    const whole = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(
        few,
        fc.constantFrom('a', 'ab', ' '),
        fc.constantFrom('', 'x', 'xyz'),
        whole,
        (text, old, by, count) => {
          const value = { text, old, by, count };
          for (const call of ['replace(text, old, by)', 'replace(text, old, by, count)']) {
            expect(evaluate(call, value), call).to.equal(search(value, call));
          }
        },
      ),
    );
    expect(evaluate("replace(@, 'b', '$&$&', `1`)", 'abb')).to.equal('a$&$&b');
  });

  it('pads to a width, an empty text also', () => {
    expect(evaluate("pad_left('7', `3`, '0')")).to.equal('007');
    expect(evaluate("pad_right('', `3`)")).to.equal('   ');
    expect(evaluate("pad_left('long', `3`)")).to.equal('long');
  });

  it('joins', () => {
    expect(evaluate("join(', ', @)", ['a', 'b'])).to.equal('a, b');
    expect(evaluate("join(', ', @)", [])).to.equal('');
  });

  const long = 'a'.repeat(1000);
  for (const [text, value] of [
    ['pad_left(text, width)', { text: 'a', width: 1e9 }],
    ['pad_right(text, width)', { text: 'a', width: 1e9 }],
    ["replace(text, '', text)", { text: long }],
    ["replace(text, 'a', text, `999`)", { text: long }],
    ['join(text, parts)', { text: long, parts: Array(1000).fill('') }],
    ['to_string(map(&$.text, parts))', { text: long, parts: Array(1000).fill('') }],
    ['to_string(parts)', { parts: Array(100_000).fill(0) }],
  ] as const) {
    it(`makes no text beyond bounds: ${text}`, () => {
      expect(reasonOf(() => evaluate(text, value))).to.equal('a function makes too long a text');
    });
  }

  it('leaves a long text alone that it does not lengthen', () => {
    const text = 'a'.repeat(1_000_000);
    expect(evaluate("replace(@, 'a', 'b')", text)).to.equal('b'.repeat(1_000_000));
    expect(evaluate('trim(@)', text)).to.equal(text);
  });

  for (const text of ["pad_left('a', `-1`)", "pad_left('a', `1.5`)", "replace('a', 'b', 'c', `-1`)"]) {
    it(`counts in whole numbers: ${text}`, () => {
      expect(reasonOf(() => evaluate(text))).to.equal('a count is no whole number');
    });
  }

  it('pads with one character', () => {
    expect(evaluate("pad_left('a', `3`, '😀')")).to.be.a('string');
    expect(reasonOf(() => evaluate("pad_left('a', `3`, 'xy')"))).to.equal('a padding is more than one character');
  });
});

describe('a function that orders', () => {
  it('orders numbers by value and texts by code point', () => {
    expect(evaluate('sort(@)', [10, 9, -1])).to.deep.equal([-1, 9, 10]);
    expect(evaluate('sort(@)', ['b', 'a', 'B', 'ab', ''])).to.deep.equal(['', 'B', 'a', 'ab', 'b']);
    expect(evaluate('sort(@)', ['\u{1f600}', '\uffee'])).to.deep.equal(['\uffee', '\u{1f600}']);
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (list) => {
        expect(evaluate('sort(@)', list)).to.deep.equal(search(list, 'sort(@)'));
      }),
    );
  });

  it('keeps the order of what is equal', () => {
    const list = [3, 1, 2, 1, 3].map((key, index) => ({ key, name: String(key), index }));
    for (const by of ['key', 'name']) {
      expect(evaluate(`sort_by(@, &${by})[*].index`, list)).to.deep.equal([1, 3, 2, 0, 4]);
      expect(evaluate(`max_by(@, &${by}).index`, list)).to.equal(0);
      expect(evaluate(`min_by(@, &${by}).index`, list)).to.equal(1);
    }
  });

  it('finds the greatest and least of numbers and of texts', () => {
    expect(evaluate('[max(@), min(@)]', [2, 10, 9])).to.deep.equal([10, 2]);
    expect(evaluate('[max(@), min(@)]', ['a', 'B'])).to.deep.equal(['a', 'B']);
    expect(evaluate('max(@)', Array(300_000).fill(1))).to.equal(1);
  });

  it('finds nothing in an empty list', () => {
    expect(evaluate('[max(@), min(@), max_by(@, &a), min_by(@, &a)]', [])).to.deep.equal([null, null, null, null]);
    expect(evaluate('[sort(@), sort_by(@, &a)]', [])).to.deep.equal([[], []]);
  });

  it('orders nothing but numbers, or texts', () => {
    for (const list of [[{ a: 1 }, { a: 'x' }], [{ a: null }], [{ a: true }]]) {
      expect(reasonOf(() => evaluate('sort_by(@, &a)', list))).to.equal(
        'what is to be ordered is neither all text nor all numbers',
      );
    }
  });
});

describe('a function that converts', () => {
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
