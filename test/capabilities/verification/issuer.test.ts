import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type HttpUpstream, inTurn, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { startRawUpstream } from '../../support/platform/raw-upstream.ts';
import { askIssuer, errorOf } from './scenery.ts';

const OAUTH = '/.well-known/oauth-authorization-server';
const OIDC = '/.well-known/openid-configuration';
const UNREACHABLE = 'the issuer could not be reached';
const NO_OBJECT = 'the issuer answered with something else than a JSON object';

/** A server that has one document, in which `URL` is its address, and nothing elsewhere. */
async function document(place: string, content: object): Promise<HttpUpstream> {
  const server: HttpUpstream = await startHttpUpstream((request, response) => {
    const found = JSON.parse(JSON.stringify(content).replaceAll('URL', server.url));
    json(request.url === place ? found : {}, request.url === place ? 200 : 404)(request, response);
  });
  return server;
}

describe('the metadata of an issuer', () => {
  for (const [place, path] of [
    [`${OAUTH}/realms/acme`, '/realms/acme'],
    [`${OIDC}/realms/acme`, '/realms/acme'],
    [`/realms/acme${OIDC}`, '/realms/acme/'],
    [OAUTH, ''],
    [OIDC, '/'],
  ] as const) {
    it(`is found at ${place} for an issuer with the path "${path}"`, async () => {
      const server = await document(place, { issuer: `URL${path}`, jwks_uri: 'URL/keys' });
      expect(await askIssuer(server.url + path).endpoint('jwks_uri')).to.equal(`${server.url}/keys`);
    });
  }

  it('is fetched once, until it is evicted', async () => {
    const server = await document(OAUTH, { issuer: 'URL', jwks_uri: 'URL/keys' });
    const issuer = askIssuer(server.url);
    await Promise.all([issuer.endpoint('jwks_uri'), issuer.endpoint('jwks_uri')]);
    await issuer.endpoint('jwks_uri');
    expect(server.requests).to.have.length(1);
    issuer.forget();
    await issuer.endpoint('jwks_uri');
    expect(server.requests).to.have.length(2);
  });

  const UNUSABLE = 'the metadata has no usable jwks_uri';
  for (const [name, metadata, reason] of [
    ['of another issuer', { issuer: 'https://other.example' }, 'the metadata is of another issuer'],
    ['of the issuer with a slash', { issuer: 'URL/' }, 'the metadata is of another issuer'],
    ['without the endpoint', { issuer: 'URL' }, UNUSABLE],
    ['with an endpoint in the clear', { issuer: 'URL', jwks_uri: 'http://other.example/keys' }, UNUSABLE],
    ['with an endpoint that is no text', { issuer: 'URL', jwks_uri: ['URL/keys'] }, UNUSABLE],
    ['that is a list', [], NO_OBJECT],
  ] as const) {
    it(`is not used ${name}, and fetched again`, async () => {
      const server = await document(OAUTH, metadata);
      const issuer = askIssuer(server.url);
      for (const asked of [1, 2]) {
        expect(await errorOf(issuer.endpoint('jwks_uri'))).to.deep.equal(['verifier_unavailable', reason]);
        expect(server.requests).to.have.length(asked);
      }
    });
  }

  for (const [what, status, path, requests, reason] of [
    ['is not looked for elsewhere while the server fails', 500, '', 1, 'the issuer answered with status 500'],
    ['is not looked for elsewhere where the server redirects', 302, '', 1, 'the issuer answered with status 302'],
    ['is nowhere', 404, '/a', 3, 'the issuer has no metadata'],
  ] as const) {
    it(what, async () => {
      const server = await startHttpUpstream(json({}, status, { location: '/elsewhere' }));
      const error = await errorOf(askIssuer(server.url + path).endpoint('jwks_uri'));
      expect(error).to.deep.equal(['verifier_unavailable', reason]);
      expect(server.requests).to.have.length(requests);
    });
  }
});

describe('what an issuer answers', () => {
  const body =
    (text: string | Buffer, headers = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(200, headers).end(text);
  const zipped = (content: object) => body(gzipSync(JSON.stringify(content)), { 'content-encoding': 'gzip' });

  for (const [what, answer, reason] of [
    ['is not taken where it is larger than its bound', json({ filler: 'x'.repeat(9000) }), UNREACHABLE],
    ['is decompressed up to its bound', zipped({ filler: 'x'.repeat(9000) }), UNREACHABLE],
    ['is not waited for longer than its time', () => {}, 'the issuer did not answer in time'],
    ['is not taken where it is no JSON', body('<html>'), NO_OBJECT],
    ['is not taken where it is nothing', body(''), NO_OBJECT],
    ['is not taken nested deeper than a stack', body(`${'['.repeat(4000)}${']'.repeat(4000)}`), NO_OBJECT],
    ['is not taken where it is null', body('null'), NO_OBJECT],
  ] as const satisfies readonly (readonly [string, RequestListener, string])[]) {
    it(`${what}, and the next answer is`, async () => {
      const server = await startHttpUpstream(inTurn(answer, zipped({ small: true })));
      const issuer = askIssuer(server.url, { timeoutMs: reason.includes('in time') ? 200 : 10_000 });
      expect(await errorOf(issuer.fetchJson(server.url))).to.deep.equal(['verifier_unavailable', reason]);
      expect(await issuer.fetchJson(server.url)).to.deep.equal({ small: true });
    });
  }

  it('is requested again where the connection was lost, three times in all', async () => {
    const server = await startRawUpstream();
    const issuer = askIssuer(server.url);
    expect(await errorOf(issuer.fetchJson(server.url))).to.deep.equal(['verifier_unavailable', UNREACHABLE]);
    expect(server.attempts()).to.equal(3);
  });
});
