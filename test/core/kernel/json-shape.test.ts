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

  it('may have fewer members in one object, but not in lists and in all objects together', () => {
    const bounds = { maxValues: 100, maxMembers: 3, maxLevels: 10 };
    const excess = (value: unknown) => excessOf(Buffer.from(JSON.stringify(value)), bounds);
    for (const value of [{ a: 1, b: { c: 1, d: [1, 2, 3, 4, 5], e: 1 }, f: 1 }, Array(20).fill({ a: 1, b: 1, c: 1 })])
      expect(excess(value)).to.equal(undefined);
    for (const value of [{ a: 1, b: {}, c: [], d: 1 }, [{ a: { b: 1, c: 1, d: 1, e: 1 } }]])
      expect(excess(value)).to.equal('values');
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
