import { expect } from 'chai';
import { listHeaders, loadHeaders } from '../../../../src/core/http/response/cache-headers.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { type Cached, cacheOutcome, type Load } from '../../../../src/core/reads/snapshots/load.ts';
import { loadOf, snapshotOf } from '../../../support/platform/loads.ts';
import { headersOf } from './headers-of.ts';

const LOADED_AT = 1_000_000;
const HELD: Cached = { key: 'key', freshUntil: LOADED_AT + 60_000, stored: false };
const snapshot = snapshotOf([], LOADED_AT);
const error = new GatewayError('upstream_failed', { upstreamStatus: 503 });

/** What is said of a load, so many seconds after it began. */
function said(load: Partial<Load>, afterSeconds: number) {
  const whole = loadOf([], { snapshot, ...load });
  const now = LOADED_AT + afterSeconds * 1000;
  const { 'Cache-Control': control, Age: age, 'Cache-Status': status } = headersOf(loadHeaders(whole, now));
  return [control, age, status, cacheOutcome(whole, now)];
}

const CASES: readonly [string, Partial<Load>, number, (string | undefined)[]][] = [
  ['what is not stored', {}, 1, ['private, no-cache', undefined, 'portico; fwd=bypass', 'bypass']],
  [
    'what is not stored, from the load of another read',
    { collapsed: true },
    1,
    ['private, no-cache', undefined, 'portico; fwd=bypass; collapsed', 'collapsed'],
  ],
  [
    'what was missed',
    { cached: { ...HELD, forwarded: 'miss', stored: true } },
    2.9,
    ['private, max-age=60', undefined, 'portico; fwd=miss; stored', 'miss'],
  ],
  [
    'what was missed, and could not be stored',
    { cached: { ...HELD, forwarded: 'miss' } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=miss', 'miss'],
  ],
  [
    'what was missed, from the load of another read',
    { cached: { ...HELD, forwarded: 'miss', stored: true }, collapsed: true },
    2.9,
    ['private, max-age=60', '2', 'portico; fwd=miss; stored; collapsed', 'collapsed'],
  ],
  ['what is fresh', { cached: HELD }, 59.5, ['private, max-age=60', '59', 'portico; hit; ttl=0', 'hit']],
  [
    'what another replica had loaded',
    { cached: HELD, copied: true },
    20,
    ['private, max-age=60', '20', 'portico; hit; ttl=40; detail=shared', 'shared'],
  ],
  [
    'what another replica had loaded long since',
    { cached: HELD, copied: true },
    99.9,
    ['private, max-age=0', '99', 'portico; hit; ttl=-40; detail=shared', 'stale'],
  ],
  ['what is stale', { cached: HELD }, 60, ['private, max-age=0', '60', 'portico; hit; ttl=0', 'stale']],
  ['what is stale for long', { cached: HELD }, 99.9, ['private, max-age=0', '99', 'portico; hit; ttl=-40', 'stale']],
  [
    'what was stale',
    { cached: { ...HELD, forwarded: 'stale', stored: true } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=stale; stored', 'refreshed'],
  ],
  [
    'what the caller wanted refreshed',
    { cached: { ...HELD, forwarded: 'request', stored: true } },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=request; stored', 'refreshed'],
  ],
  [
    'what the upstream says is still so',
    { cached: { ...HELD, forwarded: 'stale', stored: true }, renewed: true },
    0,
    ['private, max-age=60', undefined, 'portico; fwd=stale; fwd-status=304; stored', 'refreshed'],
  ],
  [
    'what stands in for an upstream that fails',
    { cached: { ...HELD, forwarded: 'stale', error } },
    600,
    ['private, max-age=0', '600', 'portico; fwd=stale; fwd-status=503; ttl=-540; detail=upstream-failed', 'stale'],
  ],
  [
    'what stands in while the breaker is open',
    { cached: { ...HELD, forwarded: 'stale', error: new GatewayError('breaker_open') } },
    600,
    ['private, max-age=0', '600', 'portico; fwd=stale; ttl=-540; detail=breaker-open', 'stale'],
  ],
  [
    'what ends with its token',
    { cached: { ...HELD, freshUntil: LOADED_AT + 7500 } },
    3,
    ['private, max-age=7', '3', 'portico; hit; ttl=4', 'hit'],
  ],
  [
    'what a token that has ended was given',
    { cached: { ...HELD, freshUntil: 0, forwarded: 'miss' } },
    0,
    ['private, max-age=0', undefined, 'portico; fwd=miss', 'miss'],
  ],
];

describe('what is told of the cache', () => {
  for (const [what, load, afterSeconds, expected] of CASES) {
    it(`for ${what}`, () => {
      expect(said(load, afterSeconds)).to.deep.equal(expected);
    });
  }

  it('beside what stands with every snapshot', () => {
    const always = { ETag: snapshot.etag };
    expect(headersOf(loadHeaders(loadOf([], { snapshot }), LOADED_AT))).to.include(always);
    expect(headersOf(loadHeaders(loadOf([], { snapshot, cached: HELD, dropped: 2 }), LOADED_AT))).to.include({
      ...always,
      'Portico-Dropped-Items': '2',
    });
    expect(headersOf(listHeaders(snapshot))).to.deep.equal({ ...always, 'Cache-Control': 'private, no-cache' });
  });

  it('never as an age below zero, whatever the clock does', () => {
    expect(said({ cached: { ...HELD, forwarded: 'miss' }, collapsed: true }, -5)[1]).to.equal('0');
  });
});
