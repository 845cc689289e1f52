import { expect } from 'chai';
import { problemResponse } from '../../../../src/core/http/response/problem.ts';
import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
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
  it('comes where its error has one, and as it is told to be', () => {
    const error = new GatewayError('credential_missing');
    expect(problem(error).headers['WWW-Authenticate']).to.equal('Bearer');
    const { headers } = problemResponse(error, 'id', ({ code }) => `Bearer of ${code}`);
    expect(headersOf(headers)['WWW-Authenticate']).to.equal('Bearer of credential_missing');
    expect(problem(new GatewayError('uri_missing')).headers).to.not.have.property('WWW-Authenticate');
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
