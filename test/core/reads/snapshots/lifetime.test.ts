import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { allowsStale, freshUntil, stageAt } from '../../../../src/core/reads/snapshots/lifetime.ts';

const LIFETIME = { ttlMs: 60, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600 };
const LOADED_AT = 1000;

describe('the life of a snapshot', () => {
  for (const [age, stage] of [
    [-1, 'over'],
    [0, 'fresh'],
    [59, 'fresh'],
    [60, 'stale-while-revalidate'],
    [359, 'stale-while-revalidate'],
    [360, 'stale-if-error'],
    [3659, 'stale-if-error'],
    [3660, 'over'],
  ] as const) {
    it(`at ${age} ms is: ${stage}`, () => {
      expect(stageAt(LOADED_AT + age, LOADED_AT, LIFETIME)).to.equal(stage);
    });
  }

  it('ends with the token', () => {
    expect(stageAt(LOADED_AT + 9, LOADED_AT, LIFETIME, LOADED_AT + 10)).to.equal('fresh');
    expect(stageAt(LOADED_AT + 10, LOADED_AT, LIFETIME, LOADED_AT + 10)).to.equal('over');
  });

  it('is never longer for a token that lasts', () => {
    expect(stageAt(LOADED_AT + 3660, LOADED_AT, LIFETIME, Number.POSITIVE_INFINITY)).to.equal('over');
    expect(freshUntil(LOADED_AT, LIFETIME)).to.equal(LOADED_AT + 60);
  });

  it('goes straight to stale-if-error where nothing is served while it is refreshed', () => {
    expect(stageAt(LOADED_AT + 60, LOADED_AT, { ...LIFETIME, staleWhileRevalidateMs: 0 })).to.equal('stale-if-error');
    expect(stageAt(LOADED_AT + 60, LOADED_AT, { ttlMs: 60, staleWhileRevalidateMs: 0, staleIfErrorMs: 0 })).to.equal(
      'over',
    );
  });
});

describe('an error in whose place a stale snapshot may be served', () => {
  it('says nothing about what the caller may see', () => {
    const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => allowsStale(new GatewayError(code)));
    expect(codes).to.have.members([
      'upstream_refused',
      'upstream_failed',
      'upstream_invalid',
      'upstream_rate_limited',
      'upstream_timeout',
      'breaker_open',
      'overloaded',
    ]);
  });

  it('does not say that the list is gone, and is no bug', () => {
    for (const upstreamStatus of [404, 410, 451]) {
      expect(allowsStale(new GatewayError('upstream_refused', { upstreamStatus }))).to.equal(false);
    }
    expect(allowsStale(new GatewayError('upstream_refused', { upstreamStatus: 418 }))).to.equal(true);
    expect(allowsStale(new TypeError('a bug'))).to.equal(false);
  });
});
