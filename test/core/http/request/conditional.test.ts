import { expect } from 'chai';
import fc from 'fast-check';
import { forbidsCache, namesTag } from '../../../../src/core/http/request/conditional.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';

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

  it(`names what is a member of any well-formed list, and nothing else ${SEEDED}`, () => {
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
      { seed: SEED },
    );
  });

  it('is read in linear time, however odd it is', () => {
    // In quadratic time, no test would be long enough.
    for (const part of [' ', '\t', ',', '"', 'W/', '"a"', ', ', '"a" ']) {
      expect(namesTag(`${part.repeat(1_000_000)}x`, ETAG)).to.equal(false);
    }
  });
});

describe('Cache-Control of a request', () => {
  for (const value of ['no-cache', 'No-Cache', 'max-age=0, no-cache', 'no-cache,max-age=0', '\t no-cache \t']) {
    it(`asks for the upstream to be asked: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(true);
    });
  }

  for (const value of [undefined, '', 'max-age=0', 'no-cache-x', 'xno-cache', 'no-cache=x', 'no cache']) {
    it(`does not: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(false);
    });
  }
});
