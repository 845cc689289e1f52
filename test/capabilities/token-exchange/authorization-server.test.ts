import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { as } from '../../support/authorization/caller.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { codeOf, echo, gatewayAt, givenFor } from './exchanging.ts';

describe('metadata of an authorization server', () => {
  let platform: HttpUpstream;
  let server: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(echo);
    server = await startHttpUpstream(json({}));
  });

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

  it('are fetched again if the endpoint that they named is gone', async () => {
    server.respond(at({ [OAUTH]: named('/old'), '/old': token }));
    const { read } = await gatewayAt(platform, server.url);
    await givenFor(await read('projects', as('a')));
    server.respond(at({ [OAUTH]: named('/new'), '/new': token }));
    expect(await codeOf(await read('projects', as('b')))).to.equal('502 upstream_refused');
    await givenFor(await read('projects', as('b')));
  });

  it('are fetched again if the endpoint that they named is down', async () => {
    const named = (token_endpoint: string) =>
      at({ [OAUTH]: json({ issuer: server.url, token_endpoint }), '/t': token });
    server.respond(named('http://127.0.0.1:9/t'));
    const breaker = { failurePercent: 1, minimumCalls: 1, windowMs: 10_000, openMs: 60_000 };
    const { read } = await gatewayAt(platform, server.url, { upstream: { breaker } });
    expect(await codeOf(await read('projects', as('a')))).to.equal('502 upstream_failed');
    expect(await codeOf(await read('projects', as('a')))).to.equal('503 breaker_open');
    server.respond(named(`${server.url}/t`));
    await givenFor(await read('projects', as('a')));
  });

  describe('that name a token endpoint elsewhere', () => {
    let other: HttpUpstream;
    before(async () => {
      other = await startHttpUpstream(token);
    });

    /** Another host of this machine, as far as names go. */
    const elsewhere = () => other.url.replace('127.0.0.1', 'localhost');
    const lying = (metadata: () => object): RequestListener =>
      at({ [OAUTH]: (request, response) => json({ issuer: server.url, ...metadata() })(request, response) });

    for (const [what, metadata] of Object.entries<() => object>({
      'over plain http on another host': () => ({ token_endpoint: `${elsewhere()}/t` }),
      'by another scheme': () => ({ token_endpoint: elsewhere().replace('http:', 'ftp:') }),
      'that is no URL': () => ({ token_endpoint: '/t' }),
      'in place of a text': () => ({ token_endpoint: [`${elsewhere()}/t`] }),
      'for connections with a certificate': () => ({
        token_endpoint: `${server.url}/t`,
        mtls_endpoint_aliases: { token_endpoint: `${elsewhere()}/t` },
      }),
    })) {
      it(`${what} have neither the client's secret nor a token sent there`, async () => {
        server.respond(lying(metadata));
        const { read } = await gatewayAt(platform, server.url);
        const before = other.requests.length;
        for (const each of ['a', 'b']) {
          expect(await codeOf(await read('projects', as(each)))).to.equal('502 upstream_invalid');
        }
        expect(other.requests).to.have.length(before);
      });
    }

    it('are believed where settings name that endpoint, or where it is another port of the issuer', async () => {
      const { read } = await gatewayAt(platform, server.url, { exchange: { tokenUrl: `${elsewhere()}/t` } });
      expect(await givenFor(await read('projects', as('a')))).to.equal('exchanged');
      server.respond(lying(() => ({ token_endpoint: `${other.url}/t` })));
      const { read: readByPort } = await gatewayAt(platform, server.url);
      expect(await givenFor(await readByPort('projects', as('a')))).to.equal('exchanged');
    });
  });

  const FAULTS: Readonly<Record<string, readonly [RequestListener, string]>> = {
    'are of another issuer': [at({ [OAUTH]: named('/t', 'https://elsewhere.example') }), '502 upstream_invalid'],
    'are not there': [at({}), '502 upstream_refused'],
    'do not come': [() => {}, '504 upstream_timeout'],
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
