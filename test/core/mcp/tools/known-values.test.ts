import { expect } from 'chai';
import fc from 'fast-check';
import { keepValue, listValues } from '../../../../src/core/mcp/tools/known-values.ts';
import { anyText } from '../../../support/any-text.ts';

describe('the values of a field', () => {
  it('are counted as others when they are too long or not printable', () => {
    const fits = 'x'.repeat(64);
    expect(listValues(['x'.repeat(65), fits])).to.equal(`"${fits}", others`);
    for (const one of ['a\nb', '\u0000', 'a\u001b[1m', 'a\u2028b', '\u202egnp.exe', 'a\u200bb', '\ud800']) {
      expect(listValues(['A', one])).to.equal('"A", others');
    }
  });

  it('are few, short and printable, for any items, also if they are kept one by one', () => {
    fc.assert(
      fc.property(fc.array(anyText({ maxLength: 70 }), { maxLength: 60 }), (all) => {
        const text = listValues(all);
        const seen = new Set<string>();
        for (const value of all) keepValue(seen, value);
        expect(listValues(seen)).to.equal(text);
        expect(seen.size).to.be.at.most(21);
        expect(text).not.to.match(/[\p{C}\p{Zl}\p{Zp}]/u);
        const named: string[] = JSON.parse(`[${text.replace(/(?:^|, )others$/, '')}]`);
        expect(named.length).to.be.at.most(20);
        for (const value of named) expect(all).to.include(value);
        for (const { length } of named) expect(length).to.be.at.most(64);
        expect(text.endsWith('others')).to.equal(all.some((one) => one !== '' && !named.includes(one)));
      }),
    );
  });
});
