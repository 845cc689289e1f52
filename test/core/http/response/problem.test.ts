import { expect } from 'chai';
import fc from 'fast-check';
import { createChallenge, problemResponse } from '../../../../src/core/http/response/problem.ts';
import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError, type GatewayErrorFacts } from '../../../../src/core/kernel/errors.ts';
import { anyText } from '../../../support/any-text.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

function problem(error: GatewayError) {
  const { status, headers, body } = problemResponse(error, 'id');
  return {
    status,
    headers: headers as Record<string, string | undefined>,
    json: JSON.parse(String(body)) as Record<string, unknown>,
  };
}

const metadataUrl = 'https://portico.example/.well-known/oauth-protected-resource/mcp';
const METADATA = `resource_metadata="${metadataUrl}"`;

const plain = createChallenge();
const scoped = createChallenge({ metadataUrl, scopes: ['read', 'write'] });
const scopeless = createChallenge({ metadataUrl, scopes: [] });
const of = (code: ErrorCode, facts?: GatewayErrorFacts) => new GatewayError(code, facts);

describe('a problem', () => {
  it('shows the detail of an error, not its reason and cause', () => {
    const shown = { detail: 'Slowly.', upstream: 'tools', retryAfterSeconds: 7 };
    const hidden = { reason: 'secret reason', cause: new Error('secret cause') };
    const { headers, json } = problem(of('upstream_rate_limited', { ...shown, ...hidden }));
    expect(json).to.include(shown);
    expect(headers['Retry-After']).to.equal('7');
    expect(JSON.stringify(json)).not.to.contain('secret');
  });
});

describe('the methods that are allowed', () => {
  it('are named with method_not_allowed only', () => {
    const naming = CODES.filter((code) => 'Allow' in problem(of(code)).headers);
    expect(naming).to.deep.equal(['method_not_allowed']);
    expect(problem(of('method_not_allowed')).headers['Allow']).to.equal('GET, HEAD');
    expect(problem(of('method_not_allowed', { allow: 'POST' })).headers['Allow']).to.equal('POST');
  });
});

describe('a challenge', () => {
  it('has no error for a request without a credential', () => {
    expect(plain(of('credential_missing'))).to.equal('Bearer');
    expect(scoped(of('credential_missing'))).to.equal(`Bearer scope="read write", ${METADATA}`);
    expect(scopeless(of('credential_missing'))).to.equal(`Bearer ${METADATA}`);
  });

  it('names no token source where a platform does not name its scopes', () => {
    for (const challenge of [plain, scoped, scopeless]) {
      expect(challenge(of('access_denied'))).to.equal('Bearer error="insufficient_scope"');
    }
  });

  it('comes with these errors, which include every 401', () => {
    for (const challenge of [plain, scoped]) {
      const challenging = CODES.filter((code) => challenge(of(code)) !== undefined);
      const credentials = ['credential_missing', 'credential_malformed', 'credential_rejected'];
      expect(challenging).to.deep.equal([...credentials, 'access_denied']);
      expect(CODES.filter((code) => ERRORS[code].status === 401 && !challenging.includes(code))).to.deep.equal([]);
    }
  });

  it('is well-formed whatever the detail of an error is', () => {
    fc.assert(
      fc.property(anyText(), (detail) => {
        const challenge = scoped(of('credential_rejected', { detail }));
        // RFC 6750, section 3: what error_description may hold.
        expect(challenge).to.match(
          /^Bearer error="invalid_token", error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]*", scope="read write", resource_metadata="[^"]+"$/,
        );
      }),
    );
  });
});
