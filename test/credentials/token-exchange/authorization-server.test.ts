import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { as, codeOf, echo, gatewayAt, givenFor } from './exchanging.ts';

describe('metadata of an authorization server', () => {
  let platform: HttpUpstream;
  let server: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(echo);
    server = await startHttpUpstream(json({}));
  });
  after(() => Promise.all([platform.close(), server.close()]));

  const at =
    (paths: Readonly<Record<string, RequestListener>>): RequestListener =>
    (request, response) =>
      (paths[request.url ?? ''] ?? json({}, 404))(request, response);
  const OAUTH = '/.well-known/oauth-authorization-server';
  const OIDC = '/.well-known/openid-configuration';
  const token = json({ access_token: 'exchanged', token_type: 'Bearer', expires_in: 31 });
  const named =
    (path: string, issuer?: string): RequestListener =>
    (request, response) =>
      json({ issuer: issuer ?? server.url, token_endpoint: `${server.url}${path}` })(request, response);

  it('are found as RFC 8414 has it, or as OpenID Connect has it, and once', async () => {
    for (const path of [OAUTH, OIDC]) {
      server.respond(at({ [path]: named('/t'), '/t': token }));
      const { read } = await gatewayAt(platform, server.url);
      const before = server.requests.length;
      for (const each of ['a', 'b']) expect(await givenFor(await read('projects', as(each)))).to.equal('exchanged');
      const asked = server.requests.slice(before).map(({ url }) => url);
      expect(asked).to.deep.equal([...(path === OIDC ? [OAUTH] : []), path, '/t', '/t']);
    }
  });

  it('are looked for anew where the endpoint that they named is gone', async () => {
    server.respond(at({ [OAUTH]: named('/old'), '/old': token }));
    const { read } = await gatewayAt(platform, server.url);
    await givenFor(await read('projects', as('a')));
    server.respond(at({ [OAUTH]: named('/new'), '/new': token }));
    expect(await codeOf(await read('projects', as('b')))).to.equal('502 upstream_refused');
    await givenFor(await read('projects', as('b')));
  });

  const FAULTS: Readonly<Record<string, readonly [RequestListener, string]>> = {
    'are of another issuer': [at({ [OAUTH]: named('/t', 'https://elsewhere.example') }), '502 upstream_invalid'],
    'name no token endpoint': [
      (request, response) => at({ [OAUTH]: json({ issuer: server.url }) })(request, response),
      '502 upstream_invalid',
    ],
    'are not there': [at({}), '502 upstream_refused'],
    'are no JSON': [(_request, response) => response.end('{'), '502 upstream_invalid'],
    'are too large': [json({ issuer: 'x'.repeat(70_000) }), '502 upstream_invalid'],
    'do not come': [() => {}, '504 upstream_timeout'],
    'come with a 500': [json({}, 500), '502 upstream_failed'],
  };
  for (const [what, [fault, expected]] of Object.entries(FAULTS)) {
    it(`that ${what} make the read ${expected}`, async () => {
      server.respond(fault);
      const exchange = expected === '504 upstream_timeout' ? { timeoutMs: 200 } : {};
      const { read } = await gatewayAt(platform, server.url, { exchange });
      expect(await codeOf(await read('tools', as('a')))).to.equal(expected);
    });
  }
});
