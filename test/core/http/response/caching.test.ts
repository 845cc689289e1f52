import { expect } from 'chai';
import fc from 'fast-check';
import { forbidsCache, listHeaders, loadHeaders, namesTag } from '../../../../src/core/http/response/caching.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { type Cached, cacheOutcome, type Load } from '../../../../src/core/reads/snapshots/load.ts';
import { loadOf, snapshotOf } from '../../../support/platform/loads.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';
import { headersOf } from './headers-of.ts';

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
    // Quadratic time would exceed the timeout of the test.
    for (const part of [' ', '\t', ',', '"', 'W/', '"a"', ', ', '"a" ']) {
      expect(namesTag(`${part.repeat(1_000_000)}x`, ETAG)).to.equal(false);
    }
  });
});

describe('Cache-Control of a request', () => {
  for (const value of ['no-cache', 'No-Cache', 'max-age=0, no-cache', 'no-cache,max-age=0', '\t no-cache \t']) {
    it(`forbids the cache: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(true);
    });
  }

  for (const value of [undefined, '', 'max-age=0', 'no-cache-x', 'xno-cache', 'no-cache=x', 'no cache']) {
    it(`allows the cache: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(false);
    });
  }
});

const LOADED_AT = 1_000_000;
const HELD: Cached = { key: 'key', freshUntil: LOADED_AT + 60_000, stored: false };
const snapshot = snapshotOf([], LOADED_AT);
const error = new GatewayError('upstream_failed', { upstreamStatus: 503 });

/** The headers of a load so many seconds after it began, and its outcome in the log. */
function headersAfter(load: Partial<Load>, afterSeconds: number) {
  const whole = loadOf([], { snapshot, ...load });
  const now = LOADED_AT + afterSeconds * 1000;
  const { 'Cache-Control': control, Age: age, 'Cache-Status': status } = headersOf(loadHeaders(whole, now));
  return [control, age, status, cacheOutcome(whole, now)];
}

const CASES: readonly [string, Partial<Load>, number, (string | undefined)[]][] = [
  ['a list that is not stored', {}, 1, ['private, no-cache', undefined, 'portico; fwd=bypass', 'bypass']],
  [
    'a list that is not stored, from the load of another read',
    { collapsed: true },
    1,
    ['private, no-cache', undefined, 'portico; fwd=bypass; collapsed', 'collapsed'],
  ],
  [
    'a miss',
    { cached: { ...HELD, forwarded: 'miss', stored: true } },
    2.9,
    ['private, max-age=60', undefined, 'portico; fwd=miss; stored', 'miss'],
  ],
  [
    'a miss that could not be stored',
    { cached: { ...HELD, forwarded: 'miss' } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=miss', 'miss'],
  ],
  [
    'a miss, from the load of another read',
    { cached: { ...HELD, forwarded: 'miss', stored: true }, collapsed: true },
    2.9,
    ['private, max-age=60', '2', 'portico; fwd=miss; stored; collapsed', 'collapsed'],
  ],
  ['a fresh list', { cached: HELD }, 59.5, ['private, max-age=60', '59', 'portico; hit; ttl=0', 'hit']],
  [
    'a fresh list of another replica',
    { cached: HELD, copied: true },
    20,
    ['private, max-age=60', '20', 'portico; hit; ttl=40; detail=shared', 'shared'],
  ],
  [
    'a stale list of another replica',
    { cached: HELD, copied: true },
    99.9,
    ['private, max-age=0', '99', 'portico; hit; ttl=-40; detail=shared', 'stale'],
  ],
  [
    'a list whose freshness just ended',
    { cached: HELD },
    60,
    ['private, max-age=0', '60', 'portico; hit; ttl=0', 'stale'],
  ],
  ['a stale list', { cached: HELD }, 99.9, ['private, max-age=0', '99', 'portico; hit; ttl=-40', 'stale']],
  [
    'a list that was loaded again when stale',
    { cached: { ...HELD, forwarded: 'stale', stored: true } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=stale; stored', 'refreshed'],
  ],
  [
    'a list that was loaded again on request',
    { cached: { ...HELD, forwarded: 'request', stored: true } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=request; stored', 'refreshed'],
  ],
  [
    'a list that the upstream revalidated',
    { cached: { ...HELD, forwarded: 'stale', stored: true }, renewed: true },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=stale; fwd-status=304; stored', 'refreshed'],
  ],
  [
    'a stale list while the upstream fails',
    { cached: { ...HELD, forwarded: 'stale', error } },
    600,
    ['private, max-age=0', '600', 'portico; fwd=stale; fwd-status=503; ttl=-540; detail=upstream-failed', 'stale'],
  ],
  [
    'a stale list while the breaker is open',
    { cached: { ...HELD, forwarded: 'stale', error: new GatewayError('breaker_open') } },
    600,
    ['private, max-age=0', '600', 'portico; fwd=stale; ttl=-540; detail=breaker-open', 'stale'],
  ],
  [
    'a list that expires with its token',
    { cached: { ...HELD, freshUntil: LOADED_AT + 7500 } },
    3,
    ['private, max-age=7', '3', 'portico; hit; ttl=4', 'hit'],
  ],
  [
    'a list whose token has expired',
    { cached: { ...HELD, freshUntil: 0, forwarded: 'miss' } },
    0,
    ['private, max-age=0', undefined, 'portico; fwd=miss', 'miss'],
  ],
];

describe('the headers of a snapshot', () => {
  for (const [what, load, afterSeconds, expected] of CASES) {
    it(`are right for ${what}`, () => {
      expect(headersAfter(load, afterSeconds)).to.deep.equal(expected);
    });
  }

  it('include the tag and the number of dropped items', () => {
    const always = { ETag: snapshot.etag };
    expect(headersOf(loadHeaders(loadOf([], { snapshot }), LOADED_AT))).to.include(always);
    expect(headersOf(loadHeaders(loadOf([], { snapshot, cached: HELD, dropped: 2 }), LOADED_AT))).to.include({
      ...always,
      'Portico-Dropped-Items': '2',
    });
    expect(headersOf(listHeaders(snapshot))).to.deep.equal({ ...always, 'Cache-Control': 'private, no-cache' });
  });

  it('have no negative age when the clock is set back', () => {
    expect(headersAfter({ cached: { ...HELD, forwarded: 'miss' }, collapsed: true }, -5)[1]).to.equal('0');
  });
});
