import { expect } from 'chai';
import fc from 'fast-check';
import { excessOf } from '../../../src/core/kernel/json-shape.ts';
import { SEEDED } from '../../support/seed.ts';

const excess = (text: string, maxValues = 10) => excessOf(Buffer.from(text), { maxValues, maxLevels: 1000 });

describe('the shape of a JSON text', () => {
  it('may nest up to the bound, and no deeper', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(excess(`[${deep(999)},${deep(999)}]`, 10_000)).to.equal(undefined);
    expect(excess(deep(1001), 10_000)).to.equal('levels');
  });

  it('does not depend on the content of its strings', () => {
    for (const text of ['[[[[[[[[[[[[', ',,,,,,,,,,,,,', '{"{"{"{"{"{"{', '\\",,,,,,,,,,,,,\\\\', '\\', '"']) {
      expect(excess(JSON.stringify({ [text]: text, a: [text] }))).to.equal(undefined);
    }
  });

  it('is not bounded for a text that is not JSON', () => {
    for (const text of ['', '"', '"\\', ']]]', '"abc']) expect(excess(text)).to.equal(undefined);
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
        expect(excess(JSON.stringify(value), values)).to.equal(undefined);
        if (values > 0) expect(excess(JSON.stringify(value), values - 1)).to.equal('values');
      }),
    );
  });
});
