import { createServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { proxyAuthorization } from '../../../../src/core/credentials/authorize.ts';
import type { UpstreamOptions } from '../../../../src/core/upstream/client/upstream-client.ts';
import { createAuthority } from '../../../support/certificates.ts';
import { type ConnectProxy, startConnectProxy } from '../../../support/connect-proxy.ts';
import { eventually } from '../../../support/eventually.ts';
import { listen } from '../../../support/listening.ts';
import { asking, calm, errorOf, open, serve } from '../harness.ts';

const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();
const IDENTITY = { ca: Buffer.from(AUTHORITY.ca) };
const TLS = { files: { current: async () => IDENTITY } };
const PASSWORD = 'hush-hush-of-the-proxy';
const ENCODED = Buffer.from(`portico:${PASSWORD}`).toString('base64');

async function startPlatform(options: ServerOptions = LEAF) {
  const listening = await listen(createServer(options, ({ url }, response) => response.end(`this is ${url}`)));
  return { ...listening, url: listening.url.replace('http:', 'https:') };
}

describe('an upstream behind a proxy', () => {
  const through = (proxy: Pick<ConnectProxy, 'url'>, more: Partial<UpstreamOptions> = {}) => ({
    tls: TLS,
    proxy: { url: proxy.url },
    ...more,
  });

  it('is reached through a tunnel for each connection, which is kept', async () => {
    const platform = await startPlatform();
    const proxy = await startConnectProxy();
    const upstream = open(platform.url, through(proxy));
    for (const path of ['/a', '/b', '/c'])
      expect((await upstream.get(asking(path), calm())).page).to.equal(`this is ${path}`);
    expect(proxy.asked.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      `CONNECT 127.0.0.1:${platform.port}`,
    ]);
    const { host, ...headers } = proxy.asked[0]?.headers ?? {};
    expect(host).to.equal(`127.0.0.1:${platform.port}`);
    // Nothing of the caller's, or of Portico's, where settings name no credential for the proxy.
    expect(proxyAuthorization({})).to.equal(undefined);
    expect(proxyAuthorization({ user: 'portico' })?.()).to.equal('Basic cG9ydGljbzo=');
    expect(Object.keys(headers)).to.have.members(['connection']);
    expect(proxy.connections()).to.equal(1);
  });

  it('is named with the default port of its scheme, and a host of IPv6 in brackets', async () => {
    const proxy = await startConnectProxy();
    proxy.behave((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    for (const url of ['http://platform.internal', 'https://platform.internal', 'https://[::1]:8443', 'http://[::1]']) {
      await errorOf(open(url, { proxy: { url: proxy.url } }).get(asking(), calm()));
    }
    expect(proxy.asked.map(({ url }) => url)).to.deep.equal([
      'platform.internal:80',
      'platform.internal:443',
      '[::1]:8443',
      '[::1]:80',
    ]);
  });

  it('may be one of plain HTTP, and still none that the proxy looks into', async () => {
    const platform = await serve((_request, response) => response.end('plain'));
    const proxy = await startConnectProxy();
    const upstream = open(platform.url, { proxy: { url: proxy.url } });
    expect((await upstream.get(asking(), calm())).page).to.equal('plain');
    expect(proxy.asked.map(({ url }) => url)).to.deep.equal([`127.0.0.1:${platform.port}`]);
  });

  it('may have a proxy over TLS, which Node must know', async () => {
    const platform = await startPlatform();
    const proxy = await startConnectProxy(createServer(LEAF));
    const url = proxy.url.replace('http:', 'https:');
    const error = await errorOf(open(platform.url, through({ url })).get(asking(), calm()));
    expect(error).to.include({
      code: 'upstream_failed',
      reason: 'proxy: TLS was not established (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    });
    expect(proxy.asked).to.deep.equal([]);
  });

  it('has its own certificate verified, for any proxy', async () => {
    const platform = await startPlatform(await AUTHORITY.issue({ names: ['elsewhere.example'] }));
    const proxy = await startConnectProxy();
    const error = await errorOf(open(platform.url, through(proxy)).get(asking(), calm()));
    expect(error.reason).to.equal('TLS was not established (ERR_TLS_CERT_ALTNAME_INVALID)');
  });

  const noTunnel = (status: number) => `proxy: it opened no tunnel: status ${status}`;
  const says = (text: string) => (socket: Socket) => socket.end(text);
  const answers = (status: string) => says(`HTTP/1.1 ${status}\r\n\r\n`);
  for (const [what, fault, reason, retryable] of [
    ['wants another credential', answers('407 No\r\nProxy-Authenticate: Basic'), noTunnel(407), undefined],
    ['refuses', says('HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!'), noTunnel(403), undefined],
    ['does not reach the upstream', answers('502 Bad Gateway'), noTunnel(502), 'connect'],
    ['answers with a redirect', answers('302 Found\r\nLocation: http://evil.example'), noTunnel(302), undefined],
    ['answers garbage', says('SSH-2.0-OpenSSH_9.9\r\n\r\n'), 'proxy: the response is not well-formed HTTP', undefined],
    ['breaks off', (socket: Socket) => socket.resetAndDestroy(), 'proxy: the connection was lost', 'connect'],
  ] as const) {
    it(`fails with upstream_failed if the proxy ${what}, which is logged`, async () => {
      const platform = await startPlatform();
      const proxy = await startConnectProxy();
      proxy.behave(fault);
      const authorize = proxyAuthorization({ user: 'portico', password: PASSWORD });
      const upstream = open(platform.url, through(proxy, { proxy: { url: proxy.url, authorize } }));
      const error = await errorOf(upstream.get(asking(), calm()));
      expect(error).to.include({ code: 'upstream_failed', upstream: 'projects', reason, countsForBreaker: true });
      expect(error.retryable).to.equal(retryable);
      expect(error.detail).to.contain('The proxy refused the connection');
      const said = inspect(error, { depth: 9, showHidden: true });
      for (const secret of [PASSWORD, ENCODED]) expect(said).not.to.contain(secret);
      expect(platform.connections()).to.equal(0);
      // It is asked again the next time.
      proxy.behave(undefined);
      expect((await upstream.get(asking(), calm())).page).to.equal('this is /');
    });
  }

  it('is upstream_timeout where the proxy does not answer within connectTimeoutMs, or the tunnel leads nowhere', async () => {
    const platform = await startPlatform();
    const proxy = await startConnectProxy();
    const sockets: Socket[] = [];
    for (const [behave, reason] of [
      [(socket: Socket) => sockets.push(socket), 'proxy: the connection did not open in time'],
      [(socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 'the connection did not open in time'],
    ] as const) {
      proxy.behave(behave);
      const error = await errorOf(open(platform.url, through(proxy, { connectTimeoutMs: 200 })).get(asking(), calm()));
      expect(error).to.include({ code: 'upstream_timeout', reason, retryable: 'connect', countsForBreaker: true });
    }
    await eventually(() => sockets.every(isOver));
  });
});

const isOver = ({ destroyed, readableEnded }: Socket) => destroyed || readableEnded;
