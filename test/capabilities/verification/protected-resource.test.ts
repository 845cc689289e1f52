import { expect } from 'chai';
import { metadataPaths, protectedResource } from '../../../src/capabilities/verification/protected-resource.ts';

const REST = { path: '/mcp', authorizationServers: ['https://login.example'], scopes: [] };

describe('a protected resource', () => {
  it('is the public URL and its path to the letter, and has its metadata where RFC 9728 says', () => {
    for (const [publicUrl, metadataUrl] of [
      ['https://portico.example', 'https://portico.example/.well-known/oauth-protected-resource/mcp'],
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp'],
      ['https://a.example/b/c', 'https://a.example/.well-known/oauth-protected-resource/b/c/mcp'],
    ] as const) {
      const described = protectedResource({ ...REST, publicUrl });
      expect(described).to.include({ resource: `${publicUrl}/mcp`, metadataUrl });
      expect(metadataPaths(described)).to.deep.equal([
        new URL(metadataUrl).pathname,
        '/.well-known/oauth-protected-resource',
      ]);
    }
  });

  it('names each scope once, in one order', () => {
    const scopes = ['workflows', 'projects', 'workflows', 'admin'];
    expect(protectedResource({ ...REST, publicUrl: 'https://a.example', scopes }).scopes).to.deep.equal([
      'admin',
      'projects',
      'workflows',
    ]);
  });
});
