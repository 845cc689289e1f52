import { expect } from 'chai';
import { issues, parsed } from './parsed.ts';

const VERIFICATION = { issuer: 'https://login.example', audience: 'https://portico.example/mcp' };
const publicUrl = 'https://portico.example';
const naming = (...authorizationServers: string[]) => ({ verification: { ...VERIFICATION, authorizationServers } });
const introspecting = (more: object) => ({
  verification: { ...VERIFICATION, introspection: { clientId: 'a', ...more } },
});
const of = (more: object) => ({ verification: { ...VERIFICATION, ...more } });

/** Settings with verification that are wrong, with what is wrong with them. */
const WRONG: readonly (readonly [input: Parameters<typeof issues>[0], issue: string])[] = [
  [naming('https://login.example'), 'authorizationServers: needs publicUrl: tokens are issued for that address'],
  [
    { publicUrl, ...naming('https://login.example'), mcp: { enabled: false } },
    'authorizationServers: needs mcp.enabled: tokens are issued for /mcp',
  ],
  ...['http://login.example', 'login.example', 'https://login.example?a'].map((url) => {
    return [{ publicUrl, ...naming(url) }, 'authorizationServers[0]: must'] as const;
  }),
  [of({ audience: undefined }), 'audience: is required if publicUrl is not set'],
  [of({ issuer: 'http://login.example' }), 'issuer: must be an https URL'],
  [of({ issuer: 'https://login.example?x=1' }), 'issuer: must not contain user, password, query'],
  [introspecting({}), 'introspection: needs a secret'],
  [introspecting({ secret: 'b', file: 'c' }), 'introspection.secret: cannot be combined with file'],
];

/** Settings with verification with which nothing is wrong. */
const RIGHT: readonly Parameters<typeof issues>[0][] = [
  { publicUrl, ...naming('http://127.0.0.1:9000') },
  { ...naming(), mcp: { enabled: false } },
  { publicUrl, verification: { issuer: 'https://login.example' } },
  { ...of({}), api: { credential: { kind: 'none' } }, tools: { requiredScopes: ['tools:read'] } },
];

describe('the settings of verification', () => {
  for (const [input, issue] of WRONG) {
    it(`refuse ${JSON.stringify(input)}: ${issue}`, () => {
      expect(issues(input).join('\n')).to.contain(`verification.${issue}`);
    });
  }
  for (const input of RIGHT) {
    it(`accept ${JSON.stringify(input)}`, () => expect(issues(input)).to.deep.equal([]));
  }

  it('keep the address of an authorization server to the letter', () => {
    const servers = ['https://login.example/'];
    expect(parsed({ publicUrl, ...naming(...servers) }).verification?.authorizationServers).to.deep.equal(servers);
  });

  it('require no scope that only clients request', () => {
    expect(issues({ ...of({}), tools: { requiredScopes: ['offline_access'] } })).to.deep.equal([
      'resources.tools.requiredScopes[0]: is not a scope of a resource (OpenID Connect Core, section 11)',
    ]);
  });
});
