import { expect } from 'chai';
import { didYouMean } from '../../../src/core/config/close-words.ts';

describe('a hint for a misspelt word', () => {
  const keys = ['host', 'port', 'allowedHosts', 'headersTimeoutMs', 'sendTimeoutMs'];

  for (const [word, meant] of [
    ['prot', 'port'],
    ['Port', 'port'],
    ['prt', 'port'],
    ['porrt', 'port'],
    ['hsot', 'host'],
    ['hosts', 'host'],
    ['allowed-hosts', 'allowedHosts'],
    ['headersTimeout', 'headersTimeoutMs'],
    ['SENDTIMEOUTMS', 'sendTimeoutMs'],
    ['allowed', 'allowedHosts'],
    ['hosting', 'host'],
  ]) {
    it(`is ${meant} for ${word}`, () => {
      expect(didYouMean(word, keys)).to.equal(`; did you mean ${meant}?`);
    });
  }

  it('is not given where no word is close', () => {
    for (const word of ['zzzz', 'po', '', 'keepAlive', 'x'.repeat(100_000), 5, null, undefined]) {
      expect(didYouMean(word, keys)).to.equal('');
    }
  });
});
