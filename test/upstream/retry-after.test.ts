import { expect } from 'chai';
import { retryAfterSeconds } from '../../src/upstream/retry-after.ts';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 7);

describe('Retry-After', () => {
  it('is read as whole seconds, from one second to an hour', () => {
    expect(retryAfterSeconds('120', NOW)).to.equal(120);
    expect(retryAfterSeconds('0', NOW)).to.equal(1);
    expect(retryAfterSeconds('86400', NOW)).to.equal(3600);
    expect(retryAfterSeconds('9'.repeat(400), NOW)).to.equal(3600);
  });

  it('is read as a date in each of the three forms of HTTP', () => {
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW)).to.equal(30);
    expect(retryAfterSeconds('Sunday, 06-Nov-94 08:49:37 GMT', NOW)).to.equal(30);
    expect(retryAfterSeconds('Sun Nov  6 08:49:37 1994', NOW)).to.equal(30);
  });

  it('is rounded up to whole seconds, and at least one where the date is past', () => {
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW + 28_001)).to.equal(2);
    expect(retryAfterSeconds('Sun, 06 Nov 1994 08:49:37 GMT', NOW + 60_000)).to.equal(1);
    expect(retryAfterSeconds('Mon, 06 Nov 1995 08:49:37 GMT', NOW)).to.equal(3600);
  });

  it('says nothing where it is absent, repeated or malformed', () => {
    for (const field of [
      undefined,
      ['1', '2'],
      '',
      '-1',
      '1.5',
      '1e3',
      ' ',
      'soon',
      '1994-11-06T08:49:37Z',
      'Sun, 66 Nov 1994 08:49:37 GMT',
    ]) {
      expect(retryAfterSeconds(field, NOW), String(field)).to.equal(undefined);
    }
  });
});
