import { expect } from 'chai';
import fc from 'fast-check';
import { protectedResource } from '../../../../src/capabilities/verification/protected-resource.ts';
import { createChallenge } from '../../../../src/core/http/response/challenge.ts';
import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError, type GatewayErrorFacts } from '../../../../src/core/kernel/errors.ts';
import { anyText } from '../../../support/any-text.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const METADATA = 'resource_metadata="https://portico.example/.well-known/oauth-protected-resource/mcp"';

const resourceWith = (scopes: readonly string[]) =>
  protectedResource({
    ...{ publicUrl: 'https://portico.example', path: '/mcp', scopes },
    authorizationServers: ['https://login.example'],
  });

const plain = createChallenge();
const scoped = createChallenge(resourceWith(['read', 'write']));
const scopeless = createChallenge(resourceWith([]));
const of = (code: ErrorCode, facts?: GatewayErrorFacts) => new GatewayError(code, facts);

describe('a challenge', () => {
  it('has no error where nothing was brought', () => {
    expect(plain(of('credential_missing'))).to.equal('Bearer');
    expect(scoped(of('credential_missing'))).to.equal(`Bearer scope="read write", ${METADATA}`);
    expect(scopeless(of('credential_missing'))).to.equal(`Bearer ${METADATA}`);
  });

  it('says invalid_token, and why, where what was brought is no good', () => {
    for (const code of ['credential_malformed', 'credential_rejected'] as const) {
      const told = `Bearer error="invalid_token", error_description="${ERRORS[code].detail}"`;
      expect(plain(of(code))).to.equal(told);
      expect(scoped(of(code))).to.equal(`${told}, scope="read write", ${METADATA}`);
      expect(scopeless(of(code))).to.equal(`${told}, ${METADATA}`);
    }
  });

  it('says insufficient_scope, and every scope that was needed, where the token does not suffice', () => {
    const error = of('access_denied', { scopes: ['admin', 'read'] });
    expect(plain(error)).to.equal('Bearer error="insufficient_scope", scope="admin read"');
    expect(scoped(error)).to.equal(`Bearer error="insufficient_scope", scope="admin read", ${METADATA}`);
  });

  it('leads nobody to sign in again where a platform does not say which scopes it wants', () => {
    for (const challenge of [plain, scoped, scopeless]) {
      expect(challenge(of('access_denied'))).to.equal('Bearer error="insufficient_scope"');
    }
  });

  it('comes with these, and with every 401', () => {
    for (const challenge of [plain, scoped]) {
      const challenging = CODES.filter((code) => challenge(of(code)) !== undefined);
      expect(challenging).to.deep.equal([
        'credential_missing',
        'credential_malformed',
        'credential_rejected',
        'access_denied',
      ]);
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
