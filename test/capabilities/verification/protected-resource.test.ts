import { expect } from 'chai';
import { metadataOperations, protectedResource } from '../../../src/capabilities/verification/protected-resource.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { LIST, READ, serve } from '../../core/http/served.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const ROOT = '/.well-known/oauth-protected-resource';
const PATHS = [`${ROOT}/mcp`, ROOT];
const PUBLIC = 'https://portico.example';
const AS_ADMITTED = { Authorization: undefined, Host: 'portico.example' };

const described = (scopes: readonly string[] = ['read', 'admin'], publicUrl = PUBLIC) => ({
  publicUrl,
  tokenSource: protectedResource(publicUrl, ['https://login.example/tenant', 'https://other.example'], scopes),
});

describe('the metadata of a protected resource', () => {
  it('is at both paths, without a token, and contains nothing but the documented members', async () => {
    const { url, ended } = await serve(described());
    for (const path of PATHS) {
      const response = await exchange(url, get(path, AS_ADMITTED));
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('application/json');
      expect(response.headers.get('cache-control')).to.equal('no-cache');
      expect(response.json()).to.deep.equal({
        resource: 'https://portico.example/mcp',
        authorization_servers: ['https://login.example/tenant', 'https://other.example'],
        scopes_supported: ['admin', 'read'],
        bearer_methods_supported: ['header'],
        resource_name: 'Portico',
      });
    }
    expect((await ended(2)).map(({ route, outcome }) => [route, outcome])).to.deep.equal(
      PATHS.map((path) => [path, 'ok']),
    );
  });

  it('names no scopes where none is needed', async () => {
    const { url } = await serve(described([]));
    expect((await exchange(url, get(ROOT, AS_ADMITTED))).json()).to.not.have.property('scopes_supported');
  });

  it('is below the host if the public URL has a path', async () => {
    const { url } = await serve(described([], 'https://portico.example/base'));
    for (const path of [`${ROOT}/base/mcp`, ROOT]) {
      const { status, json } = await exchange(url, get(path, AS_ADMITTED));
      expect([status, json()['resource']], path).to.deep.equal([200, 'https://portico.example/base/mcp']);
    }
    expect((await exchange(url, get(`${ROOT}/mcp`, AS_ADMITTED))).status).to.equal(404);
  });

  it('answers GET and HEAD, and takes no other method', async () => {
    const { url } = await serve(described());
    for (const path of PATHS) {
      expect((await exchange(url, requestText('HEAD', path, AS_ADMITTED))).status).to.equal(200);
      const refused = await exchange(url, requestText('POST', path, AS_ADMITTED));
      expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('may be read by pages of any origin, with a preflight; nothing else may', async () => {
    const { url } = await serve(described());
    const page = { ...AS_ADMITTED, Origin: 'https://agent.example' };
    const asking = { ...page, 'Access-Control-Request-Method': 'GET' };
    for (const path of PATHS) {
      const read = await exchange(url, get(path, page));
      expect([read.status, read.headers.get('access-control-allow-origin')]).to.deep.equal([200, '*']);
      expect(read.headers.has('access-control-allow-credentials')).to.equal(false);
      const asked = await exchange(url, requestText('OPTIONS', path, asking));
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).to.deep.equal([204, '*']);
      // What the SDK's client sends with it.
      expect(asked.headers.get('access-control-allow-headers')).to.contain('MCP-Protocol-Version');
    }
    for (const path of [LIST, READ, '/openapi.json', '/mcp']) {
      const { status, headers } = await exchange(url, get(path, page));
      expect([status, headers.get('access-control-allow-origin')], path).to.deep.equal([403, null]);
    }
  });

  it('is served under no other host', async () => {
    const { url } = await serve(described());
    expect((await exchange(url, get(ROOT, { Host: 'evil.example' }))).status).to.equal(421);
  });

  it('is absent unless settings name authorization servers, and so is every other well-known path', async () => {
    const { url } = await serve({ publicUrl: PUBLIC });
    for (const path of [...PATHS, '/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
      const { status, json } = await exchange(url, get(path, AS_ADMITTED));
      expect([status, json()['code']], path).to.deep.equal([404, 'not_found']);
    }
    const { headers } = await exchange(url, get(LIST, AS_ADMITTED));
    expect(headers.get('www-authenticate')).to.equal('Bearer');
  });
});

describe('a challenge over HTTP', () => {
  const METADATA = 'resource_metadata="https://portico.example/.well-known/oauth-protected-resource/mcp"';
  const challengeOf = async (request: string, options: Parameters<typeof serve>[0] = {}) => {
    const { url } = await serve({ ...described(), ...options });
    const { status, headers } = await exchange(url, request);
    return [status, headers.get('www-authenticate')];
  };

  it('says where to sign in, and for which scopes, with each 401', async () => {
    expect(await challengeOf(get(LIST, AS_ADMITTED))).to.deep.equal([401, `Bearer scope="admin read", ${METADATA}`]);
    const [malformed, told] = await challengeOf(get(READ, { Authorization: 'Basic YTpi' }));
    expect(malformed).to.equal(401);
    expect(told).to.match(/^Bearer error="invalid_token", .*, scope="admin read", resource_metadata="[^"]+"$/);
    const read = () => {
      throw new GatewayError('credential_rejected', { upstream: 'tools' });
    };
    const [rejected, challenge] = await challengeOf(get(READ), { read });
    expect(rejected).to.equal(401);
    expect(challenge).to.contain(`scope="admin read", ${METADATA}`);
  });

  it('names the scopes that a read needs with a 403 for a missing one', async () => {
    const read = () => {
      throw new GatewayError('access_denied', { scopes: ['admin'] });
    };
    expect(await challengeOf(get(READ), { read })).to.deep.equal([
      403,
      `Bearer error="insufficient_scope", scope="admin", ${METADATA}`,
    ]);
  });
});

describe('a protected resource', () => {
  it('is the public URL and its path to the letter, and has its metadata where RFC 9728 says', () => {
    for (const [publicUrl, metadataUrl] of [
      ['https://portico.example', 'https://portico.example/.well-known/oauth-protected-resource/mcp'],
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp'],
      ['https://a.example/b/c', 'https://a.example/.well-known/oauth-protected-resource/b/c/mcp'],
    ] as const) {
      const described = protectedResource(publicUrl, [], []);
      expect(described).to.include({ resource: `${publicUrl}/mcp`, metadataUrl });
      const paths = metadataOperations(described).map(({ path }) => path);
      expect(paths).to.deep.equal([new URL(metadataUrl).pathname, ROOT]);
    }
  });

  it('names each scope once, in one order', () => {
    const scopes = ['workflows', 'projects', 'workflows', 'admin'];
    expect(protectedResource('https://a.example', [], scopes).scopes).to.deep.equal(['admin', 'projects', 'workflows']);
  });
});
