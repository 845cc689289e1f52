import { expect } from 'chai';
import fc from 'fast-check';
import { namesTag } from '../../src/http/if-none-match.ts';

const ETAG = 'W/"abc"';

describe('If-None-Match', () => {
  for (const value of [
    '*',
    ' * ',
    'W/"abc"',
    '"abc"',
    '"x", W/"abc"',
    'W/"abc","x"',
    '"a,b" , "abc"',
    ',,"abc",',
    '"", "abc"',
  ]) {
    it(`names the tag as ${value}`, () => {
      expect(namesTag(value, ETAG)).to.equal(true);
    });
  }

  for (const value of [
    '',
    '"ABC"',
    'W/"ab"',
    'abc',
    'w/"abc"',
    '"abc" "abc"',
    '"abc',
    '"x", abc',
    '*, "abc"',
    '"x" "abc"',
    '"abc", x',
    'W/ "abc"',
  ]) {
    it(`does not name it as ${JSON.stringify(value)}`, () => {
      expect(namesTag(value, ETAG)).to.equal(false);
    });
  }

  it('names what is a member of any well-formed list, and nothing else', () => {
    const opaque = fc.string({ unit: fc.constantFrom(...'abc,!# '.replace(' ', '~')), maxLength: 4 });
    const tag = fc.tuple(fc.boolean(), opaque).map(([weak, text]) => `${weak ? 'W/' : ''}"${text}"`);
    fc.assert(
      fc.property(
        fc.array(tag, { maxLength: 6 }),
        opaque,
        fc.constantFrom(',', ', ', ' ,\t', ',,'),
        (tags, text, comma) => {
          const named = tags.some((member) => member.replace(/^W\//, '') === `"${text}"`);
          return namesTag(tags.join(comma), `W/"${text}"`) === named;
        },
      ),
    );
  });

  it('is read in linear time, however odd it is', () => {
    for (const part of [' ', '\t', ',', '"', 'W/', '"a"', ', ', '"a" ']) {
      const value = `${part.repeat(100_000)}x`;
      const begun = performance.now();
      namesTag(value, ETAG);
      expect(performance.now() - begun).to.be.below(1000);
    }
  });
});
