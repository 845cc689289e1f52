import { expect } from 'chai';
import { GatewayError, type GatewayErrorFacts } from '../../../src/core/kernel/errors.ts';
import type { Challenge } from '../../../src/core/mcp/rpc-errors.ts';
import { asked, loadOf } from './asked.ts';

const URI = 'platform://tools';
const challenge: Challenge = ({ code, scopes }) => `Bearer of ${code} ${scopes?.join('+') ?? ''}`.trim();

type Code = ConstructorParameters<typeof GatewayError>[0];

/** Ways to ask for a read that comes to such an error. */
function failing(code: Code, facts: GatewayErrorFacts, options: { readonly challenge?: Challenge } = { challenge }) {
  const { earlier, current, raw } = asked({
    ...options,
    read: ({ name }) => {
      if (name === 'tools') throw new GatewayError(code, facts);
      return loadOf([]);
    },
  });
  return {
    raw,
    ways: {
      'a read before 2026-07-28': () => earlier('resources/read', { uri: URI }),
      'a read since then': () => current('resources/read', { uri: URI }),
      'a tool before 2026-07-28': () => earlier('tools/call', { name: 'list_installed_tools' }),
      'a tool since then': () => current('tools/call', { name: 'list_installed_tools' }),
    },
  };
}

const MENDED = [
  ['credential_rejected', { upstream: 'tools' }, 401, 'Bearer of credential_rejected'],
  ['access_denied', { scopes: ['admin', 'read'] }, 403, 'Bearer of access_denied admin+read'],
] as const;

describe('an error of MCP that another token would fix', () => {
  for (const [code, facts, status, told] of MENDED) {
    for (const way of Object.keys(failing(code, facts).ways) as (keyof ReturnType<typeof failing>['ways'])[]) {
      it(`is an HTTP error when the client can obtain one: ${code}, ${way}`, async () => {
        const { headers, json, record, ...answered } = await failing(code, facts).ways[way]();
        expect(answered.status).to.equal(status);
        expect(headers).to.include({ 'WWW-Authenticate': told, 'Content-Type': 'application/json' });
        expect(json.error).to.deep.include({ code: status });
        expect(json.error.data).to.include({ code });
        expect(record.error?.code).to.equal(code);
      });

      it(`is a JSON-RPC error when it cannot: ${code}, ${way}`, async () => {
        const { status: http, headers, record } = await failing(code, facts, {}).ways[way]();
        expect(http).to.equal(200);
        expect(headers).to.not.have.property('WWW-Authenticate');
        expect(record.error?.code).to.equal(code);
      });
    }

    it(`is a JSON-RPC error in a batch, whose members share one status: ${code}`, async () => {
      const { raw } = failing(code, facts);
      const member = (id: number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });
      for (const batch of [
        [member(1, 'resources/read', { uri: URI }), member(2, 'resources/read', { uri: 'platform://projects' })],
        [member(1, 'resources/read', { uri: URI })],
      ]) {
        const { status: http, headers, json } = await raw(JSON.stringify(batch));
        expect(http).to.equal(200);
        expect(headers).to.not.have.property('WWW-Authenticate');
        expect(json[0].error.data).to.include({ code });
        expect(json[1]?.result.contents[0].text).to.equal(batch.length === 1 ? undefined : '[]');
      }
      const tool = await raw(JSON.stringify([member(1, 'tools/call', { name: 'list_installed_tools' })]));
      expect(tool.status).to.equal(200);
      expect(tool.json[0].result.isError).to.equal(true);
    });
  }
});

describe('an error of MCP that no other token would fix', () => {
  for (const [code, facts] of [
    // The scopes that a platform requires are unknown.
    ['access_denied', { upstream: 'tools' }],
    // It was in a header of its own.
    ['credential_rejected', { upstream: 'tools', header: 'X-Acme-Key' }],
    ['credential_missing', { upstream: 'tools', header: 'X-Acme-Key' }],
    ['upstream_credential_rejected', { upstream: 'tools' }],
    ['upstream_failed', { upstream: 'tools' }],
    ['rate_limited', {}],
  ] as const) {
    it(`is a JSON-RPC error: ${code}`, async () => {
      for (const ask of Object.values(failing(code, facts).ways)) {
        const { status, headers } = await ask();
        expect(status).to.equal(200);
        expect(headers).to.not.have.property('WWW-Authenticate');
      }
    });
  }

  it('is not reported as a bug', async () => {
    const bug = new Error('at fault');
    const { earlier } = asked({
      challenge,
      read: () => {
        throw bug;
      },
    });
    const { status, json, bugs } = await earlier('resources/read', { uri: URI });
    expect([status, json.error.data.code, bugs.length]).to.deep.equal([200, 'internal', 1]);
  });
});
