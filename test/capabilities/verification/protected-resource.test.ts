import { expect } from 'chai';
import { protectedResource } from '../../../src/capabilities/verification/protected-resource.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { LIST, READ, serve } from '../../core/http/served.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const ROOT = '/.well-known/oauth-protected-resource';
const PATHS = [`${ROOT}/mcp`, ROOT];
const AS_ADMITTED = { Authorization: undefined, Host: 'portico.example' };
const METADATA = 'resource_metadata="https://portico.example/.well-known/oauth-protected-resource/mcp"';

const described = (publicUrl = 'https://portico.example') => ({
  publicUrl,
  tokenSource: protectedResource(
    publicUrl,
    ['https://login.example/tenant', 'https://other.example'],
    ['read', 'admin', 'read'],
  ),
});

describe('the metadata of a protected resource', () => {
  it('is at both paths, without a token, and contains nothing but the documented members', async () => {
    const { url } = await serve(described());
    for (const path of PATHS) {
      const response = await exchange(url, get(path, AS_ADMITTED));
      expect(response.status).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('no-cache');
      expect(response.json()).to.deep.equal({
        resource: 'https://portico.example/mcp',
        authorization_servers: ['https://login.example/tenant', 'https://other.example'],
        scopes_supported: ['admin', 'read'],
        bearer_methods_supported: ['header'],
        resource_name: 'Portico',
      });
    }
  });

  it('is below the host if the public URL has a path', async () => {
    const { url } = await serve(described('https://portico.example/base'));
    for (const path of [`${ROOT}/base/mcp`, ROOT]) {
      const { status, json } = await exchange(url, get(path, AS_ADMITTED));
      expect([status, json()['resource']], path).to.deep.equal([200, 'https://portico.example/base/mcp']);
    }
    expect((await exchange(url, get(`${ROOT}/mcp`, AS_ADMITTED))).status).to.equal(404);
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
});

describe('a challenge over HTTP', () => {
  const challengeOf = async (request: string, error?: GatewayError) => {
    const read = () => {
      throw error;
    };
    const { url } = await serve({ ...described(), ...(error && { read }) });
    const { status, headers } = await exchange(url, request);
    return `${status} ${headers.get('www-authenticate')}`;
  };

  it('says where to sign in, and for which scopes, with each 401', async () => {
    expect(await challengeOf(get(LIST, AS_ADMITTED))).to.equal(`401 Bearer scope="admin read", ${METADATA}`);
    expect(await challengeOf(get(READ, { Authorization: 'Basic YTpi' }))).to.match(
      /^401 Bearer error="invalid_token", .*, scope="admin read", resource_metadata="[^"]+"$/,
    );
    const rejected = new GatewayError('credential_rejected', { upstream: 'tools' });
    expect(await challengeOf(get(READ), rejected))
      .to.match(/^401 /)
      .and.contain(`scope="admin read", ${METADATA}`);
  });

  it('names the scopes that a read needs with a 403 for a missing one', async () => {
    expect(await challengeOf(get(READ), new GatewayError('access_denied', { scopes: ['admin'] }))).to.equal(
      `403 Bearer error="insufficient_scope", scope="admin", ${METADATA}`,
    );
  });
});
