import { expect } from 'chai';
import fc from 'fast-check';
import { parse, parseDocument } from 'yaml';
import { coreScalar } from '../../../src/core/config/build-tree.ts';

describe('the type of plain text', () => {
  const { schema } = parseDocument('');

  it('is that which the text has as a value in a file', () => {
    const part = fc.constantFrom(
      ...['0', '7', '1', '.', 'e', '+', '-', 'x', 'o', 'f', '_', 'true', 'False', 'null', '~', '.inf', '.nan', 'no'],
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const text = parts.join('');
        fc.pre(!['-', '...'].includes(text) && !text.startsWith('---'));
        expect(coreScalar(text, schema)).to.deep.equal(parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('is text for all that is more than a scalar, and for nothing', () => {
    for (const text of ['', '[1]', '{a: 1}', 'a: 1', '- 1', '*a', '&a 1', '!!int 1', '# 1', '"1"', ' 1', '1 ']) {
      expect(coreScalar(text, schema)).to.equal(text);
    }
  });
});
