import { expect } from 'chai';
import { problemResponse } from '../../../src/http/response/problem.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../../src/kernel/errors.ts';
import { headersOf } from './headers-of.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

function problem(error: GatewayError) {
  const { status, headers, body } = problemResponse(error, 'id');
  return { status, headers: headersOf(headers), json: JSON.parse(String(body)) as Record<string, unknown> };
}

describe('a problem', () => {
  for (const code of CODES) {
    it(`of ${code} is the row of the table`, () => {
      const { status, headers, json } = problem(new GatewayError(code));
      const row: { status: number; title: string; detail: string; retryAfterSeconds?: number } = ERRORS[code];
      expect(status).to.equal(row.status);
      expect(headers).to.include({ 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' });
      expect(json).to.deep.equal({
        type: `urn:portico:error:${code}`,
        title: row.title,
        status: row.status,
        detail: row.detail,
        instance: 'urn:portico:request:id',
        code,
        requestId: 'id',
        ...(row.retryAfterSeconds !== undefined && { retryAfterSeconds: row.retryAfterSeconds }),
      });
      expect(headers['Retry-After']).to.equal(row.retryAfterSeconds?.toString());
    });
  }

  it('has what its thrower says to callers, and nothing else of it', () => {
    const { headers, json } = problem(
      new GatewayError('upstream_rate_limited', {
        detail: 'Slowly.',
        upstream: 'tools',
        retryAfterSeconds: 7,
        reason: 'secret reason',
        cause: new Error('secret cause'),
      }),
    );
    expect(json).to.include({ detail: 'Slowly.', upstream: 'tools', retryAfterSeconds: 7 });
    expect(headers['Retry-After']).to.equal('7');
    expect(JSON.stringify(json)).not.to.contain('secret');
  });
});

describe('a challenge', () => {
  const challengeOf = (code: ErrorCode) => problem(new GatewayError(code)).headers['WWW-Authenticate'];

  it('has no error where nothing was brought', () => {
    expect(challengeOf('credential_missing')).to.equal('Bearer');
  });

  it('says invalid_token, and why, where what was brought is no good', () => {
    for (const code of ['credential_malformed', 'credential_rejected'] as const) {
      expect(challengeOf(code)).to.equal(`Bearer error="invalid_token", error_description="${ERRORS[code].detail}"`);
      // RFC 6750, section 3: what error_description may hold.
      expect(ERRORS[code].detail).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });

  it('says insufficient_scope where the token does not suffice', () => {
    expect(challengeOf('access_denied')).to.equal('Bearer error="insufficient_scope"');
  });

  it('comes with these, and with every 401', () => {
    const challenging = CODES.filter((code) => challengeOf(code) !== undefined);
    expect(challenging).to.deep.equal([
      'credential_missing',
      'credential_malformed',
      'credential_rejected',
      'access_denied',
    ]);
    expect(CODES.filter((code) => ERRORS[code].status === 401 && !challenging.includes(code))).to.deep.equal([]);
  });
});

describe('the methods that are allowed', () => {
  it('are named with method_not_allowed only', () => {
    const naming = CODES.filter((code) => 'Allow' in problem(new GatewayError(code)).headers);
    expect(naming).to.deep.equal(['method_not_allowed']);
    expect(problem(new GatewayError('method_not_allowed')).headers['Allow']).to.equal('GET, HEAD');
    expect(problem(new GatewayError('method_not_allowed', { allow: 'POST' })).headers['Allow']).to.equal('POST');
  });
});
