import { expect } from 'chai';
import { issues, parsed } from './parsed.ts';

describe('the authorization servers', () => {
  const publicUrl = 'https://portico.example';
  const naming = (authorizationServers: string[]) => ({
    verification: {
      ...{ issuer: 'https://login.example', audience: 'https://portico.example/mcp' },
      authorizationServers,
    },
  });

  it('are named for a server that clients find, that verifies, and that speaks MCP', () => {
    expect(
      parsed({ publicUrl, ...naming(['https://login.example/']) }).verification?.authorizationServers,
    ).to.deep.equal(['https://login.example/']);
    expect(issues(naming(['https://login.example']))).to.deep.equal([
      'verification.authorizationServers: needs publicUrl: tokens are issued for that address',
    ]);
    expect(issues({ publicUrl, ...naming(['https://login.example']), mcp: { enabled: false } })).to.deep.equal([
      'verification.authorizationServers: needs mcp.enabled: tokens are issued for /mcp',
    ]);
    expect(issues({ ...naming([]), mcp: { enabled: false } })).to.deep.equal([]);
  });

  it('are reached by TLS, or on this machine', () => {
    expect(issues({ publicUrl, ...naming(['http://127.0.0.1:9000']) })).to.deep.equal([]);
    for (const url of ['http://login.example', 'login.example', 'https://login.example?a']) {
      expect(issues({ publicUrl, ...naming([url]) }).join(), url).to.contain(
        'verification.authorizationServers[0]: must',
      );
    }
  });
});

describe('the scopes of a resource', () => {
  it('never contain scopes that only clients request', () => {
    const verification = { issuer: 'https://login.example', audience: 'https://portico.example/mcp' };
    expect(issues({ verification, tools: { requiredScopes: ['tools:read'] } })).to.deep.equal([]);
    expect(issues({ verification, tools: { requiredScopes: ['offline_access'] } })).to.deep.equal([
      'resources.tools.requiredScopes[0]: is for clients to ask for, and opens no resource (OpenID Connect Core, section 11)',
    ]);
  });
});
