import { createServer } from 'node:https';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { createAuthority, writePem } from '../../support/certificates.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { listen } from '../../support/listening.ts';
import { lists } from '../../support/platform/http-upstream.ts';
import { newFolder } from '../../support/process/process.ts';
import { READ_TOOLS, startServing } from '../../support/process/serving.ts';
import { exchange, get } from '../../support/raw-http.ts';

const AUTHORITY = await createAuthority();
const { ca } = AUTHORITY;

/** The status of a probe over TLS. */
const probe = (url: string) => exchange(url, get('/readyz'), { tls: { ca } }).then(({ status }) => status);

describe('a gateway with TLS', () => {
  it('serves both listeners over TLS, and drains', async () => {
    const { cert: certFile, key: keyFile } = writePem(await newFolder(), await AUTHORITY.issue());
    const listener = { port: 0, tls: { certFile, keyFile } };
    const { gateway } = await startGateway(settingsFor('http://127.0.0.1:9', { http: listener, admin: listener }));
    for (const url of [gateway.url, gateway.adminUrl]) {
      expect(url).to.match(/^https:/);
      expect(await probe(url ?? '')).to.equal(200);
    }
    expect(await gateway.close()).to.equal(true);
  });
});

describe('a platform over TLS, behind a proxy with a password', () => {
  const PASSWORD = 'canary-c4n4ry-of-the-proxy';

  it('is read, also with a client certificate, and the password is not in a log, response or error', async () => {
    const folder = await newFolder();
    const server = createServer({ ...(await AUTHORITY.issue()), requestCert: true, ca }, (request, response) => {
      expect(request.headers).not.to.have.property('proxy-authorization');
      lists({ tools: [{ id: 'a', name: 'A' }] })(request, response);
    });
    const platform = await listen(server);
    const proxy = await startConnectProxy();
    const given = new Set<string | undefined>();
    const { ca: caFile, cert: certFile, key: keyFile } = writePem(folder, { ca, ...(await AUTHORITY.issue()) });
    const log = captureLog('debug');
    const { gateway, read } = await startGateway(
      settingsFor(platform.url.replace('http:', 'https:'), {
        upstream: {
          tls: { caFile, certFile, keyFile },
          proxy: { url: proxy.url, user: 'portico', password: PASSWORD },
          retry: { attempts: 1, baseDelayMs: 1 },
        },
      }),
      { logger: log.logger },
    );
    const said = [inspect(gateway, { depth: 9, showHidden: true })];
    const answered = await read('tools');
    expect(answered.status).to.equal(200);
    for (const { headers } of proxy.asked) given.add(headers['proxy-authorization']);
    expect([...given]).to.deep.equal([`Basic ${Buffer.from(`portico:${PASSWORD}`).toString('base64')}`]);
    await platform.refuse();
    for (const text of ['HTTP/1.1 407 No\r\n\r\n', 'garbage\r\n\r\n']) {
      proxy.behave((socket) => socket.end(text));
      const failed = await read('projects');
      expect(failed.status).to.equal(502);
      said.push(JSON.stringify([...failed.headers]), await failed.text());
    }
    const all = [...said, log.text()].join('\n');
    expect(all).to.contain('proxy: it opened no tunnel: status 407');
    expect(all).to.contain('proxy: the response is not well-formed HTTP');
    for (const secret of [PASSWORD, Buffer.from(`portico:${PASSWORD}`).toString('base64')]) {
      expect(all).not.to.contain(secret);
    }
  });
});

describe('NODE_EXTRA_CA_CERTS', () => {
  it('adds authorities for platforms and for proxies over TLS', async () => {
    const folder = await newFolder();
    const leaf = await AUTHORITY.issue();
    const platform = await listen(createServer(leaf, lists({ tools: [{ id: 'a', name: 'A' }] })));
    const proxy = await startConnectProxy(createServer(leaf));
    const [at, by] = [platform.url, proxy.url].map((url) => url.replace('http:', 'https:'));
    const settings = `http: { port: 0 }\nadmin: { enabled: false }\nupstreams: { tools: { baseUrl: "${at}", proxy: { url: "${by}" } } }`;
    const { ca: file } = writePem(folder, { ca });
    const portico = await startServing(settings, { NODE_EXTRA_CA_CERTS: file });
    expect((await portico.ask(READ_TOOLS)).status).to.equal(200);
    expect(proxy.asked.map(({ url: asked }) => asked)).to.deep.equal([`127.0.0.1:${platform.port}`]);
    expect((await portico.stop()).code).to.equal(0);
  });
});
