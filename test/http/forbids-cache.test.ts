import { expect } from 'chai';
import { forbidsCache } from '../../src/http/forbids-cache.ts';

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
