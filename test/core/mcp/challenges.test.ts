import { expect } from 'chai';
import { type Challenge, GatewayError, type GatewayErrorFacts } from '../../../src/core/kernel/errors.ts';
import { asked, loadOf } from './asked.ts';

const challenge: Challenge = ({ code, scopes }) => `Bearer of ${code} ${scopes?.join('+') ?? ''}`.trim();

type Code = ConstructorParameters<typeof GatewayError>[0];

/** Ways to ask for a read of tools that comes to such an error. */
function failing(code: Code, facts: GatewayErrorFacts, options: { readonly challenge?: Challenge } = { challenge }) {
  const handler = asked({
    ...options,
    read: ({ name }) => {
      if (name === 'tools') throw new GatewayError(code, facts);
      return loadOf([]);
    },
  });
  return {
    ways: [
      () => handler.earlier('resources/read', { uri: 'platform://tools' }),
      () => handler.current('resources/read', { uri: 'platform://tools' }),
      () => handler.earlier('tools/call', { name: 'list_installed_tools' }),
      () => handler.current('tools/call', { name: 'list_installed_tools' }),
    ],
  };
}

describe('an error of MCP that the client cannot fix by another token', () => {
  for (const [why, code, facts, options] of [
    ['it can obtain none', 'credential_rejected', { upstream: 'tools' }, {}],
    ['it can obtain none', 'access_denied', { scopes: ['admin'] }, {}],
    ['required scopes are unknown', 'access_denied', { upstream: 'tools' }],
    ['it was in a header of its own', 'credential_rejected', { upstream: 'tools', header: 'X-Acme-Key' }],
    ['it is in a header of its own', 'credential_missing', { upstream: 'tools', header: 'X-Acme-Key' }],
    ['it is that of the deployment', 'upstream_credential_rejected', { upstream: 'tools' }],
    ['it is not of the token', 'upstream_failed', { upstream: 'tools' }],
    ['it is a bug', 'internal', {}],
  ] as const) {
    it(`is a JSON-RPC error: ${code}, since ${why}`, async () => {
      for (const ask of failing(code, facts, options).ways) {
        const { status, headers, record } = await ask();
        expect(status).to.equal(200);
        expect(headers).to.not.have.property('WWW-Authenticate');
        expect(record.error?.code).to.equal(code);
      }
    });
  }
});
