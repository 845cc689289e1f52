import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { startRawUpstream } from '../../support/platform/raw-upstream.ts';
import { askIssuer, errorOf } from './scenery.ts';

/** A server that has documents at these paths, and nothing elsewhere. */
function documents(at: (url: string) => Readonly<Record<string, unknown>>): Promise<HttpUpstream> {
  const server: Promise<HttpUpstream> = startHttpUpstream(async (request, response) => {
    const found = at((await server).url)[request.url ?? ''];
    json(found ?? {}, found === undefined ? 404 : 200)(request, response);
  });
  return server;
}

describe('the metadata of an issuer', () => {
  for (const [place, path] of [
    ['/.well-known/oauth-authorization-server/realms/acme', '/realms/acme'],
    ['/.well-known/openid-configuration/realms/acme', '/realms/acme'],
    ['/realms/acme/.well-known/openid-configuration', '/realms/acme'],
    ['/realms/acme/.well-known/openid-configuration', '/realms/acme/'],
    ['/.well-known/oauth-authorization-server', ''],
    ['/.well-known/openid-configuration', '/'],
  ] as const) {
    it(`is found at ${place} for an issuer with the path "${path}"`, async () => {
      const server = await documents((url) => ({ [place]: { issuer: url + path, jwks_uri: `${url}/keys` } }));
      expect(await askIssuer(server.url + path).endpoint('jwks_uri')).to.equal(`${server.url}/keys`);
    });
  }

  it('are fetched once, until they are evicted', async () => {
    const server = await documents((url) => ({
      '/.well-known/oauth-authorization-server': { issuer: url, jwks_uri: `${url}/keys` },
    }));
    const issuer = askIssuer(server.url);
    await Promise.all([issuer.endpoint('jwks_uri'), issuer.endpoint('jwks_uri')]);
    await issuer.endpoint('jwks_uri');
    expect(server.requests).to.have.length(1);
    issuer.forget();
    await issuer.endpoint('jwks_uri');
    expect(server.requests).to.have.length(2);
  });

  for (const [name, metadata, reason] of [
    ['of another issuer', { issuer: 'https://other.example' }, 'the metadata is of another issuer'],
    ['of the issuer with a slash', { issuer: 'URL/' }, 'the metadata is of another issuer'],
    ['without the endpoint', { issuer: 'URL' }, 'the metadata has no usable jwks_uri'],
    [
      'with an endpoint in the clear',
      { issuer: 'URL', jwks_uri: 'http://other.example/keys' },
      'the metadata has no usable jwks_uri',
    ],
    [
      'with an endpoint in a file',
      { issuer: 'URL', jwks_uri: 'file:///etc/passwd' },
      'the metadata has no usable jwks_uri',
    ],
    [
      'with an endpoint that is no text',
      { issuer: 'URL', jwks_uri: ['URL/keys'] },
      'the metadata has no usable jwks_uri',
    ],
    ['that is a list', [], 'the issuer answered with something else than a JSON object'],
  ] as const) {
    it(`is not used ${name}, and fetched again`, async () => {
      const server = await documents((url) => ({
        '/.well-known/oauth-authorization-server': JSON.parse(JSON.stringify(metadata).replaceAll('URL', url)),
      }));
      const issuer = askIssuer(server.url);
      for (const asked of [1, 2]) {
        expect(await errorOf(issuer.endpoint('jwks_uri'))).to.deep.equal(['verifier_unavailable', reason]);
        expect(server.requests).to.have.length(asked);
      }
    });
  }

  it('is not looked for elsewhere while the server fails', async () => {
    const server = await startHttpUpstream(json({}, 500));
    expect(await errorOf(askIssuer(server.url).endpoint('jwks_uri'))).to.deep.equal([
      'verifier_unavailable',
      'the issuer answered with status 500',
    ]);
    expect(server.requests).to.have.length(1);
  });

  it('is nowhere', async () => {
    const server = await startHttpUpstream(json({}, 404));
    expect(await errorOf(askIssuer(`${server.url}/a`).endpoint('jwks_uri'))).to.deep.equal([
      'verifier_unavailable',
      'the issuer has no metadata',
    ]);
    expect(server.requests).to.have.length(3);
  });
});

describe('what an issuer answers', () => {
  const asked = async (url: string, options = {}) => errorOf(askIssuer(url, options).fetchJson(`${url}/keys`));

  it('is not followed to another place', async () => {
    const other = await startHttpUpstream(json({ keys: [] }));
    const server = await startHttpUpstream(json({}, 302, { location: `${other.url}/keys` }));
    expect(await asked(server.url)).to.deep.equal(['verifier_unavailable', 'the issuer answered with status 302']);
    expect(other.requests).to.deep.equal([]);
  });

  it('is read up to its bound, and again after that', async () => {
    const server = await startHttpUpstream(json({ filler: 'x'.repeat(9000) }));
    const issuer = askIssuer(server.url);
    expect(await errorOf(issuer.fetchJson(server.url))).to.deep.equal([
      'verifier_unavailable',
      'the issuer could not be reached',
    ]);
    server.respond(json({ small: true }));
    for (const _ of [1, 2]) expect(await issuer.fetchJson(server.url)).to.deep.equal({ small: true });
  });

  it('is read up to its bound where it has no end', async () => {
    const server = await startHttpUpstream((_request, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write('{"a":'.repeat(1000))) {}
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    expect(await asked(server.url)).to.deep.equal(['verifier_unavailable', 'the issuer could not be reached']);
  });

  it('is decompressed up to its bound, so that nothing small becomes large', async () => {
    const compressed = (body: object) =>
      startHttpUpstream((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify(body)));
      });
    const small = await compressed({ small: true });
    expect(await askIssuer(small.url).fetchJson(small.url)).to.deep.equal({ small: true });
    const large = await compressed({ filler: 'x'.repeat(9000) });
    expect(await asked(large.url)).to.deep.equal(['verifier_unavailable', 'the issuer could not be reached']);
  });

  it('is waited for no longer than its time', async () => {
    const server = await startHttpUpstream(() => {});
    expect(await asked(server.url, { timeoutMs: 30 })).to.deep.equal([
      'verifier_unavailable',
      'the issuer did not answer in time',
    ]);
  });

  for (const [name, body] of [
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['nested deeper than a stack', `${'['.repeat(4000)}${']'.repeat(4000)}`],
    ['null', 'null'],
  ] as const) {
    it(`is not taken where it is ${name}`, async () => {
      const server = await startHttpUpstream((_request, response) => response.end(body));
      expect(await asked(server.url)).to.deep.equal([
        'verifier_unavailable',
        'the issuer answered with something else than a JSON object',
      ]);
    });
  }

  it('is requested again where the connection was lost, three times in all', async () => {
    const server = await startRawUpstream();
    expect(await asked(server.url)).to.deep.equal(['verifier_unavailable', 'the issuer could not be reached']);
    expect(server.attempts()).to.equal(3);
    const body = '{"a":1}';
    await server.behave((socket, { number }) =>
      number === 1 ? socket.destroy() : socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    expect(await askIssuer(server.url).fetchJson(`${server.url}/keys`)).to.deep.equal({ a: 1 });
  });

  it('is not taken where it is no HTTP', async () => {
    const server = await startRawUpstream((socket) => socket.end('220 mail.example ESMTP\r\n'));
    expect(await asked(server.url)).to.deep.equal(['verifier_unavailable', 'the issuer could not be reached']);
  });
});
