import { expect } from 'chai';
import fc from 'fast-check';
import { checkShape } from '../../src/catalogue/page-shape.ts';
import { SEEDED } from '../support/seed.ts';

const check = (text: string, maxPageValues = 10) => checkShape(Buffer.from(text), maxPageValues);
const TOO_MANY = { code: 'upstream_invalid', reason: 'the page holds more values than maxPageValues' };
const TOO_DEEP = { code: 'upstream_invalid', reason: 'the page nests deeper than 1000 levels' };

describe('the shape of a page', () => {
  it('may have as many objects, lists and members as settings say, and not one more', () => {
    // A list, nine commas.
    check('[1,2,3,4,5,6,7,8,9,0]');
    expect(() => check('[1,2,3,4,5,6,7,8,9,0,1]'))
      .to.throw()
      .that.includes(TOO_MANY);
    expect(() => check('[{},{},{},{},{},{}]'))
      .to.throw()
      .that.includes(TOO_MANY);
  });

  it('may be a thousand levels deep, and no deeper', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    check(`[${deep(999)},${deep(999)}]`, 10_000);
    expect(() => check(deep(1001), 10_000))
      .to.throw()
      .that.includes(TOO_DEEP);
  });

  it('is none of its texts, whatever they hold', () => {
    for (const text of ['[[[[[[[[[[[[', ',,,,,,,,,,,,,', '{"{"{"{"{"{"{', '\\",,,,,,,,,,,,,\\\\', '\\', '"']) {
      check(JSON.stringify({ [text]: text, a: [text] }));
    }
  });

  it('is nothing to speak of where it is no JSON', () => {
    for (const text of ['', '"', '"\\', ']]]', '"abc']) check(text);
  });

  it(`has as many values as there are in any JSON ${SEEDED}`, () => {
    const valuesOf = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const members = Object.values(value);
      return 1 + Math.max(members.length - 1, 0) + members.reduce((sum: number, member) => sum + valuesOf(member), 0);
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const values = valuesOf(value);
        check(JSON.stringify(value), values);
        if (values > 0)
          expect(() => check(JSON.stringify(value), values - 1))
            .to.throw()
            .that.includes(TOO_MANY);
      }),
    );
  });
});
