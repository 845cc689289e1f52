import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { exchange, get, openConnection, requestText } from '../../support/raw-http.ts';
import { LIST, post, READ, READS, RPC, serve, serveRpc } from '../served.ts';

const BOUNDS = { maxUrlBytes: 300, maxHeaderBytes: 1024 };

/** Status and code of the response to a request. */
async function told(url: string, request: string): Promise<unknown[]> {
  const response = await exchange(url, request);
  return [response.status, response.json()['code']];
}

async function statusOf(url: string, request: string): Promise<number> {
  return (await exchange(url, request)).status;
}

describe('the framing of a request', () => {
  it('leaves room for a target of exactly maxUrlBytes', async () => {
    const { url } = await serve(BOUNDS);
    for (const begin of [`${LIST}?`, `${READ}&`, `http://localhost${LIST}?`]) {
      const target = begin.padEnd(BOUNDS.maxUrlBytes, 'x');
      expect(await statusOf(url, get(target))).to.equal(200);
      expect(await told(url, get(`${target}x`))).to.deep.equal([414, 'uri_too_long']);
    }
  });

  it('bounds the query of a resource that is known, too', async () => {
    const { url, reads } = await serve({ ...BOUNDS, maxUrlBytes: READ.length - 1 });
    expect(await told(url, get(READ))).to.deep.equal([414, 'uri_too_long']);
    expect(await told(url, get(`${READS}?uri=platform%3A%2F%2Ftools`))).to.deep.equal([414, 'uri_too_long']);
    expect(reads).to.deep.equal([]);
  });

  it('leaves room for headers of exactly maxHeaderBytes', async () => {
    const { url } = await serve(BOUNDS);
    const used = get(LIST, { X: '' }).length - `GET ${LIST} HTTP/1.1\r\n\r\n`.length;
    const room = 'x'.repeat(BOUNDS.maxHeaderBytes - used);
    expect(await statusOf(url, get(LIST, { X: room }))).to.equal(200);
    expect(await told(url, get(LIST, { X: `${room}x` }))).to.deep.equal([431, 'headers_too_large']);
  });

  it('counts many small headers as what they take', async () => {
    const { url } = await serve();
    const fields = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`h${index}`, '']));
    expect(await told(url, get(LIST, fields))).to.deep.equal([431, 'headers_too_large']);
  });

  it('is that of HTTP/1.1 or HTTP/1.0', async () => {
    const { url } = await serve();
    expect(await statusOf(url, get(LIST).replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(200);
    expect(await statusOf(url, get(LIST).replace('HTTP/1.1', 'HTTP/2.0'))).to.equal(400);
    expect(await statusOf(url, `GET ${LIST}\r\n\r\n`)).to.equal(400);
  });

  it('has no fragment in its target', async () => {
    const { url } = await serve();
    expect(await told(url, get(`${LIST}#x`))).to.deep.equal([400, 'invalid_request']);
  });

  it('is the same for the probes', async () => {
    const { url } = await serve(BOUNDS);
    const long = 'x'.repeat(600);
    expect(await told(url, get(`/livez?${long}`))).to.deep.equal([414, 'uri_too_long']);
    expect(await told(url, get('/readyz', { X: long, Y: long }))).to.deep.equal([431, 'headers_too_large']);
    expect(await told(url, requestText('GET', '/livez', {}, '{}'))).to.deep.equal([400, 'invalid_request']);
  });
});

describe('the host of a request', () => {
  it('is a loopback name, with the right port or none, on a loopback address', async () => {
    const { url } = await serve();
    const { port } = new URL(url);
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', `localhost:${port}`, `127.0.0.1:${port}`]) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(200);
    }
    for (const host of [
      ...['evil.example', `evil.example:${port}`, 'localhost:1'],
      ...['localhost.', 'a.localhost', '127.0.0.2', ''],
    ]) {
      expect(await told(url, get(LIST, { Host: host })), host).to.deep.equal([421, 'host_refused']);
    }
  });

  it('is any on all addresses', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    expect(url).to.match(/^http:\/\/0\.0\.0\.0:\d+$/);
    expect(await statusOf(url, get(LIST, { Host: 'portico.example' }))).to.equal(200);
  });

  it('is one of the setting, where there is one', async () => {
    const { url } = await serve({ allowedHosts: ['Portico.example', 'portico.example:8443'] });
    for (const host of ['portico.example', 'PORTICO.EXAMPLE', 'portico.example:8443']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(200);
    }
    for (const host of ['localhost', 'portico.example:1', 'xportico.example']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(421);
    }
  });

  it('must be told, once, in HTTP/1.1', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    for (const request of [
      get(LIST, { Host: undefined }),
      get(LIST, { host: 'localhost' }),
      get(LIST).replace('Host: localhost', 'Host: localhost\r\nHost: localhost'),
    ]) {
      const response = await exchange(url, request);
      expect([response.status, response.json()['code']]).to.deep.equal([400, 'invalid_request']);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
    }
  });

  it('must be well-formed', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    for (const host of ['a b', 'user@localhost', 'localhost/', '[::1']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(400);
    }
  });

  it('need not be told in HTTP/1.0', async () => {
    const { url } = await serve();
    const connection = openConnection(url);
    connection.send(get(LIST, { Host: undefined }).replace('HTTP/1.1', 'HTTP/1.0'));
    expect((await connection.closed()).responses.map(({ status }) => status)).to.deep.equal([200]);
    expect(await statusOf(url, get(LIST, { Host: 'evil.example' }).replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(421);
  });
});

describe('the origin of a request', () => {
  it('is refused where none is allowed, its own included', async () => {
    const { url } = await serve();
    for (const origin of ['https://evil.example', 'null', '', url]) {
      expect(await told(url, get(LIST, { Origin: origin })), origin).to.deep.equal([403, 'origin_refused']);
    }
  });

  it('is taken where it is allowed, scheme and port included', async () => {
    const { url } = await serve({ allowedOrigins: ['https://App.example/', 'http://other.example:81'] });
    for (const origin of ['https://app.example', 'http://other.example:81']) {
      expect(await statusOf(url, get(LIST, { Origin: origin }))).to.equal(200);
    }
    for (const origin of [
      ...['http://app.example', 'https://app.example:8443', 'https://x.app.example'],
      'https://app.example, https://app.example',
    ]) {
      expect(await statusOf(url, get(LIST, { Origin: origin }))).to.equal(403);
    }
  });

  it('never opens a response to another origin', async () => {
    const { url } = await serve({ allowedOrigins: ['https://app.example'] });
    for (const origin of ['https://app.example', 'https://evil.example']) {
      const { headers } = await exchange(url, get(LIST, { Origin: origin }));
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    }
  });
});

describe('a body', () => {
  const framings = [
    [{ 'Content-Length': '2' }, '{}'],
    [{ 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'],
  ] as const;

  it('on GET is 400, announced in either way, and nothing behind it is taken for another request', async () => {
    const { url, ended, reads } = await serve();
    const targets = [LIST, `${LIST}?x`, READ, `${READ}&x`];
    for (const target of targets) {
      for (const [fields, body] of framings) {
        const connection = openConnection(url);
        connection.send(get(target, fields) + body + get(READ));
        const { responses } = await connection.closed();
        expect(responses.map(({ status }) => status)).to.deep.equal([400]);
        expect(responses[0]?.json()).to.include({ code: 'invalid_request' });
        expect(responses[0]?.headers.get('connection')).to.equal('close');
      }
    }
    expect(await statusOf(url, get(LIST, { 'Content-Length': '0' }))).to.equal(200);
    const outcomes = (await ended(9)).map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal([...Array(8).fill('invalid_request'), 'ok']);
    expect(reads).to.deep.equal([]);
  });

  it('ends the connection also where its path is unknown, or takes another method', async () => {
    const { url, ended, reads } = await serveRpc(({ body }) => ({ status: 200, headers: [], body }));
    for (const [method, target, status] of [
      ['GET', '/nothing', 404],
      ['POST', '/nothing', 404],
      ['POST', LIST, 405],
      ['PUT', RPC, 405],
      ['GET', RPC, 405],
    ] as const) {
      const connection = openConnection(url);
      connection.send(requestText(method, target, {}, '{}') + get(READ));
      const { responses } = await connection.closed();
      expect(responses.map((response) => response.status)).to.deep.equal([status]);
      expect(responses[0]?.headers.get('connection')).to.equal('close');
    }
    expect(await ended(5)).to.have.length(5);
    expect(reads).to.deep.equal([]);
  });

  it('does not end it where it may be there', async () => {
    const { url } = await serveRpc(({ body }) => ({ status: 200, headers: [], body }));
    const connection = openConnection(url);
    connection.send(post('{}', { Authorization: undefined }) + post('{}'));
    expect((await connection.receive()).status).to.equal(401);
    expect((await connection.receive()).status).to.equal(200);
  });

  it('that does not parse is answered for once, by its own request', async () => {
    const { url, ended } = await serve();
    for (const fields of [{ 'Transfer-Encoding': 'chunked' }, { 'Transfer-Encoding': 'gzip' }]) {
      const connection = openConnection(url);
      connection.send(`${get(LIST, fields)}nonsense\r\n\r\n`);
      expect((await connection.closed()).responses.map(({ status }) => status)).to.deep.equal([400]);
    }
    await sleep(20);
    expect(await ended(2)).to.have.length(2);
  });
});
