import { expect } from 'chai';
import { exchange, get, openConnection, requestText, sendTo } from '../../../support/raw-http.ts';
import { echo, LIST, READ, RPC, serve, serveRpc } from '../served.ts';

const BOUNDS = { maxUrlBytes: 300, maxHeaderBytes: 1024 };

/** Status and code of the response to a request. */
async function outcomeOf(url: string, request: string): Promise<unknown[]> {
  const response = await exchange(url, request);
  return [response.status, response.json()['code']];
}

async function statusOf(url: string, request: string): Promise<number> {
  return (await exchange(url, request)).status;
}

describe('the framing of a request', () => {
  it('allows a target of exactly maxUrlBytes', async () => {
    const { url } = await serve(BOUNDS);
    for (const begin of [`${LIST}?`, `${READ}&`, `http://localhost${LIST}?`]) {
      const target = begin.padEnd(BOUNDS.maxUrlBytes, 'x');
      expect(await statusOf(url, get(target))).to.equal(200);
      expect(await outcomeOf(url, get(`${target}x`))).to.deep.equal([414, 'uri_too_long']);
    }
  });

  it('allows headers of exactly maxHeaderBytes', async () => {
    const { url } = await serve(BOUNDS);
    const used = get(LIST, { X: '' }).length - `GET ${LIST} HTTP/1.1\r\n\r\n`.length;
    const room = 'x'.repeat(BOUNDS.maxHeaderBytes - used);
    expect(await statusOf(url, get(LIST, { X: room }))).to.equal(200);
    expect(await outcomeOf(url, get(LIST, { X: `${room}x` }))).to.deep.equal([431, 'headers_too_large']);
  });

  it('must be HTTP/1.1 or HTTP/1.0', async () => {
    const { url } = await serve();
    expect(await statusOf(url, get(LIST, { 'Content-Length': '0' }).replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(200);
    expect(await statusOf(url, get(LIST).replace('HTTP/1.1', 'HTTP/2.0'))).to.equal(400);
    expect(await statusOf(url, `GET ${LIST}\r\n\r\n`)).to.equal(400);
  });
});

describe('the host of a request', () => {
  it('must be sent exactly once in HTTP/1.1', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    for (const request of [
      get(LIST, { Host: undefined }),
      get(LIST, { host: 'localhost' }),
      get(LIST).replace('Host: localhost', 'Host: localhost\r\nHost: localhost'),
    ]) {
      expect(await outcomeOf(url, request)).to.deep.equal([400, 'invalid_request']);
    }
  });
});

/** What a response says of web origins. */
function ofOrigins({ headers }: { readonly headers: Headers }): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => /^access-control|^vary$/.test(name)));
}

const VARY = 'Authorization, Accept, Accept-Encoding';
const APP = 'https://app.example';
const OPENED = {
  'access-control-allow-origin': APP,
  'access-control-expose-headers':
    'Age, Allow, Cache-Status, ETag, Mcp-Protocol-Version, Portico-Dropped-Items, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
};
const PREFLIGHT = { Origin: APP, 'Access-Control-Request-Method': 'GET', Authorization: undefined };

describe('the origin of a request', () => {
  it('is refused if it is foreign, without CORS headers', async () => {
    const { url, reads } = await serve();
    const { port } = new URL(url);
    for (const origin of ['https://evil.example', 'null', '', `http://localhost:${port}`, 'http://127.0.0.1', '*']) {
      const response = await exchange(url, get(READ, { Origin: origin, Host: `127.0.0.1:${port}` }));
      expect([response.status, response.json()['code']], origin).to.deep.equal([403, 'origin_refused']);
      expect(ofOrigins(response)).to.deep.equal({ vary: VARY });
    }
    expect(reads).to.deep.equal([]);
  });

  it('may be that of the listener, also behind a proxy that ends TLS or changes the port', async () => {
    const { url } = await serve();
    const { host } = new URL(url);
    for (const named of [host, 'localhost:9000', '[::1]:9000', 'localhost']) {
      for (const scheme of ['http', 'https']) {
        const response = await exchange(url, get(LIST, { Host: named, Origin: `${scheme}://${named}` }));
        expect(response.status, named).to.equal(200);
        // The browser itself knows what is of the same origin: one that does not think so may not read it.
        expect(ofOrigins(response)).to.deep.equal({ vary: VARY });
      }
    }
    const absolute = get(`http://localhost:9000${LIST}`, { Host: host, Origin: `http://${host}` });
    expect(await outcomeOf(url, absolute)).to.deep.equal([403, 'origin_refused']);
    expect(await statusOf(url, absolute.replace(`Origin: http://${host}`, 'Origin: http://localhost:9000'))).to.equal(
      200,
    );
  });

  it('may be that of publicUrl, whatever Host a proxy sends', async () => {
    const { url } = await serve({ publicUrl: 'https://portico.example/base' });
    for (const host of ['portico.example', 'localhost:8080']) {
      const response = await exchange(url, get(LIST, { Host: host, Origin: 'https://portico.example' }));
      expect([response.status, ofOrigins(response)], host).to.deep.equal([200, { vary: VARY }]);
    }
    for (const origin of ['http://portico.example', 'https://portico.example:444', 'https://evil.example']) {
      const request = get(LIST, { Host: 'localhost:8080', Origin: origin });
      expect(await outcomeOf(url, request), origin).to.deep.equal([403, 'origin_refused']);
    }
  });

  it('may be an allowed one, also of an extension or an application, with its scheme and port', async () => {
    const allowedOrigins = [
      'https://app.example',
      'http://other.example:81',
      'chrome-extension://abc',
      'tauri://localhost',
    ];
    const { url } = await serve({ allowedOrigins });
    // A cache must not give a page what it has stored for a request without an origin.
    expect(ofOrigins(await exchange(url, get(READ)))).to.deep.equal({ vary: `${VARY}, Origin` });
    for (const origin of allowedOrigins) {
      const response = await exchange(url, get(LIST, { Origin: origin }));
      expect([response.status, response.headers.get('access-control-allow-origin')]).to.deep.equal([200, origin]);
    }
    for (const origin of [
      ...['http://app.example', 'https://app.example:8443', 'https://x.app.example'],
      ...['https://app.example, https://app.example', 'tauri://elsewhere'],
    ]) {
      const response = await exchange(url, get(LIST, { Origin: origin }));
      expect([response.status, ofOrigins(response)]).to.deep.equal([403, { vary: `${VARY}, Origin` }]);
    }
  });

  it('that is allowed can read every response, errors included', async () => {
    const { url } = await serve({ ...BOUNDS, allowedOrigins: [APP] });
    for (const [status, request] of [
      [200, get(READ, { Origin: APP })],
      [200, requestText('HEAD', READ, { Origin: APP })],
      [304, get(LIST, { Origin: APP, 'If-None-Match': '*' })],
      [400, requestText('GET', READ, { Origin: APP }, '{}')],
      [401, get(READ, { Origin: APP, Authorization: undefined })],
      [404, get('/nothing', { Origin: APP })],
      [421, get(LIST, { Origin: APP, Host: 'evil.example' })],
      [431, get(LIST, { Origin: APP, X: 'x'.repeat(1024) })],
    ] as const) {
      const connection = sendTo(url, request, { head: request.startsWith('HEAD') });
      const response = await connection.receive();
      expect(response.status, request).to.equal(status);
      expect(ofOrigins(response), request).to.deep.include(OPENED);
      expect(response.headers.get('vary')).to.match(/^(?:Authorization, Accept, Accept-Encoding, |Accept, )?Origin$/);
      expect(response.headers.has('access-control-allow-credentials')).to.equal(false);
      connection.socket.destroy();
    }
  });
});

describe('a preflight', () => {
  const ALLOWED =
    'Accept, Authorization, Cache-Control, Content-Type, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, traceparent, tracestate, X-Request-Id';

  it('of an allowed origin lists methods and headers, without a credential', async () => {
    const handle = () => ({ status: 200, headers: {}, body: Buffer.alloc(0) });
    const { url, ended, reads } = await serveRpc(handle, { allowedOrigins: [APP] });
    const connection = openConnection(url);
    const ofRpc = 'Authorization, Accept, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
    for (const [path, methods, vary] of [
      [LIST, 'GET, HEAD', `${VARY}, Origin`],
      [READ, 'GET, HEAD', `${VARY}, Origin`],
      [RPC, 'POST', `${ofRpc}, Origin`],
      ['/openapi.json', 'GET, HEAD', 'Accept, Origin'],
    ]) {
      connection.send(requestText('OPTIONS', String(path), PREFLIGHT));
      const response = await connection.receive();
      expect([response.status, response.body.length]).to.deep.equal([204, 0]);
      expect(ofOrigins(response)).to.deep.equal({
        ...OPENED,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': ALLOWED,
        'access-control-max-age': '7200',
        vary: String(vary),
      });
    }
    expect((await ended(4))[2]).to.include({ route: RPC, method: 'OPTIONS', status: 204, outcome: 'ok' });
    expect(reads).to.deep.equal([]);
  });

  it('of any other origin is refused, and that of the own one over https has no CORS headers', async () => {
    for (const allowedOrigins of [[], [APP]]) {
      const { url } = await serve({ allowedOrigins });
      const { host } = new URL(url);
      for (const [origin, status] of [
        ['https://evil.example', 403],
        [`https://${host}`, 204],
      ] as const) {
        const fields = { ...PREFLIGHT, Host: host, Origin: origin };
        const response = await exchange(url, requestText('OPTIONS', READ, fields));
        expect(response.status, origin).to.equal(status);
        expect(response.headers.has('access-control-allow-origin')).to.equal(false);
      }
    }
  });

  it('has the headers that a browser sends: any other OPTIONS is 405', async () => {
    const { url } = await serve({ allowedOrigins: [APP] });
    for (const [target, fields, body] of [
      [READ, { ...PREFLIGHT, Origin: undefined }, ''],
      [READ, { ...PREFLIGHT, 'Access-Control-Request-Method': undefined }, ''],
      [READ, PREFLIGHT, '{}'],
      ['/livez', PREFLIGHT, ''],
    ] as const) {
      expect(await statusOf(url, requestText('OPTIONS', target, fields, body))).to.equal(405);
    }
    expect(await statusOf(url, get(READ, { ...PREFLIGHT, Authorization: 'Bearer a' }))).to.equal(200);
  });
});

describe('a body', () => {
  it('ends the connection also on an unknown path or with a wrong method', async () => {
    const { url, ended, reads } = await serveRpc(echo);
    for (const [method, target, status] of [
      ['GET', '/nothing', 404],
      ['POST', '/nothing', 404],
      ['POST', LIST, 405],
      ['PUT', RPC, 405],
      ['DELETE', RPC, 405],
    ] as const) {
      const connection = sendTo(url, requestText(method, target, {}, '{}') + get(READ));
      const { responses } = await connection.closed();
      expect(responses.map((response) => response.status)).to.deep.equal([status]);
      expect(responses[0]?.headers.get('connection')).to.equal('close');
    }
    expect(await ended(5)).to.have.length(5);
    expect(reads).to.deep.equal([]);
  });
});
