import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { closeAll, createPatience, LIST, READ, serve } from './served.ts';
import { until } from './until.ts';
import { get, openWire } from './wire.ts';

const GRACE_MS = 60_000;
const QUICK = { headersTimeoutMs: 100, requestTimeoutMs: 150 };

afterEach(closeAll);

/** Sends pieces, one after the other, and gives the answers that come until the server closes the connection. */
async function send(url: string, ...pieces: string[]) {
  const wire = openWire(url);
  for (const piece of pieces) {
    wire.write(piece);
    await sleep(10);
  }
  return (await wire.closed()).map(({ status, headers, body }) => ({
    status,
    headers,
    json: JSON.parse(body.toString()),
  }));
}

describe('bytes that are no request', () => {
  for (const [name, bytes] of Object.entries({
    garbage: '\x16\x03\x01 garbage\r\n\r\n',
    'an unknown method': get(LIST, {}, 'FROB'),
    'a bad target': 'GET mcp HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'a header without a colon': 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n',
    'a header folded over two lines': 'GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n',
    'a space before the colon': 'GET / HTTP/1.1\r\nHost : localhost\r\n\r\n',
    'bare line feeds': 'GET / HTTP/1.1\nHost: localhost\n\n',
    'two lengths': get(LIST, { 'Content-Length': '1', 'content-length': '2' }),
    'a length that is no number': get(LIST, { 'Content-Length': '+1' }),
    'a length beside a transfer coding': `${get(LIST, { 'Content-Length': '3', 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`,
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  })) {
    it(`are answered whole, and the connection ends: ${name}`, async () => {
      const { url, access } = await serve();
      const [answer, ...others] = await send(url, bytes);
      expect(others).to.deep.equal([]);
      expect(answer?.status).to.equal(400);
      expect(answer?.headers.get('content-type')).to.equal('application/problem+json');
      expect(answer?.headers.get('connection')).to.equal('close');
      expect(answer?.json).to.include({ code: 'invalid_request', requestId: answer?.headers.get('x-request-id') });
      const lines = await access(1);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({
        route: 'unmatched',
        status: 400,
        outcome: 'invalid_request',
        requestId: answer?.json.requestId,
      });
      expect(String(lines[0]?.['causes'])).to.match(/^Error HPE_/);
    });
  }

  it('are answered after what was asked properly before them', async () => {
    const { read, release } = createPatience();
    const { url, reads, access } = await serve({ read });
    const wire = openWire(url);
    wire.write(`${get(READ)}garbage\r\n\r\n`);
    await until(() => reads.length === 1);
    await sleep(20);
    expect(wire.answers()).to.deep.equal([]);
    release();
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200, 400]);
    expect((await access(2)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'invalid_request']);
  });

  it('are not answered where what was asked before them ends the connection', async () => {
    const { url, access } = await serve();
    expect(
      (await send(url, `${get('/nothing', { Connection: 'close' })}garbage\r\n\r\n`)).map(({ status }) => status),
    ).to.deep.equal([404]);
    expect(await access(1)).to.have.length(1);
  });

  it('are answered once, however many come', async () => {
    const { url, access } = await serve();
    expect(await send(url, 'garbage\r\n\r\n', 'more\r\n\r\n', get(LIST), 'GET')).to.have.length(1);
    expect(await access(1)).to.have.length(1);
  });

  it('are read on for a while, so that the answer is not lost to a reset, but not for ever', async () => {
    const { url, access } = await serve();
    for (const bytes of ['garbage\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n']) {
      const socket = connect({ port: Number(new URL(url).port), allowHalfOpen: true });
      socket.on('error', () => {}).resume();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const begun = performance.now();
      socket.write(bytes);
      const timer = setInterval(() => socket.write('more'), 20);
      await closed;
      clearInterval(timer);
      expect(performance.now() - begun).to.be.above(800);
    }
    expect(await access(2)).to.have.length(2);
  });

  it('are answered where they break off', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.socket.end('GET / HT');
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([400]);
  });
});

describe('a request that is too large to parse', () => {
  const limits = { maxUrlBytes: 300, maxHeaderBytes: 1024 };
  const long = 'x'.repeat(2000);

  it('is 414 where its target is', async () => {
    const { url, access } = await serve(limits);
    const [answer] = await send(url, get(`/${long}`));
    expect(answer?.json).to.include({ status: 414, code: 'uri_too_long' });
    expect((await access(1))[0]).to.include({ outcome: 'uri_too_long' });
    const [again] = await send(url, `GET /${long}`);
    expect(again?.status).to.equal(414);
  });

  it('is 431 where its headers are, also in pieces', async () => {
    const { url } = await serve(limits);
    expect((await send(url, get('/', { X: long })))[0]?.json).to.include({ status: 431, code: 'headers_too_large' });
    expect((await send(url, 'GET / HTTP/1.1\r\nX: ', long.slice(500), long))[0]?.status).to.equal(431);
  });

  it('is answered so that a client which goes on sending can read it', async () => {
    const { url } = await serve();
    const pieces = Array.from({ length: 20 }, () => 'x'.repeat(100_000));
    expect((await send(url, 'GET / HTTP/1.1\r\nX: ', ...pieces)).map(({ status }) => status)).to.deep.equal([431]);
  });
});

describe('a request that is too slow', () => {
  it('is 408 where its headers do not end', async () => {
    const { url, access } = await serve(QUICK);
    const [answer] = await send(url, 'GET / HTTP/1.1\r\n', 'Host: localhost\r\n');
    expect(answer?.status).to.equal(408);
    expect(answer?.json).to.include({ code: 'request_timeout' });
    expect((await access(1))[0]).to.include({ status: 408, outcome: 'request_timeout', route: 'unmatched' });
  });

  it('is 408 on a connection that was used before, too', async () => {
    const { url } = await serve(QUICK);
    expect((await send(url, get('/nothing'), 'GET / HT')).map(({ status }) => status)).to.deep.equal([404, 408]);
  });

  it('is 408 also where settings give headers more time than the whole', async () => {
    const { url } = await serve({ headersTimeoutMs: 60_000, requestTimeoutMs: 100 });
    expect((await send(url, 'GET / HT')).map(({ status }) => status)).to.deep.equal([408]);
  });

  it('is none where not a byte was sent: the connection just ends', async () => {
    const { url, text } = await serve(QUICK);
    expect(await send(url)).to.deep.equal([]);
    expect(text()).to.equal('');
  });
});

describe('CONNECT', () => {
  const request = 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n';

  it('is a method that no path takes', async () => {
    const { url, access } = await serve();
    const [answer, ...others] = await send(url, request, 'what a tunnel would carry');
    expect(others).to.deep.equal([]);
    expect(answer?.status).to.equal(405);
    expect(answer?.headers.get('allow')).to.equal('GET, HEAD');
    expect((await access(1))[0])
      .to.include({ method: 'CONNECT', status: 405, outcome: 'method_not_allowed' })
      .and.not.have.property('causes');
  });

  it('is answered after what was asked before it', async () => {
    const { read, release } = createPatience();
    const { url, reads } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ) + request);
    await until(() => reads.length === 1);
    release();
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200, 405]);
  });

  it('by a client that is gone disturbs nobody', async () => {
    const { url, server } = await serve();
    const wire = openWire(url);
    wire.write(request);
    await wire.receive(1);
    wire.socket.resetAndDestroy();
    expect(await server.drain(GRACE_MS)).to.equal(true);
  });

  it('is read on, so that its connection ends with the client', async () => {
    const { url, server } = await serve();
    const socket = connect({ port: Number(new URL(url).port), allowHalfOpen: true });
    socket.resume().write(request);
    await sleep(20);
    socket.end('what a tunnel would carry');
    await once(socket, 'close');
    const begun = performance.now();
    await server.drain(GRACE_MS);
    expect(performance.now() - begun).to.be.below(500);
  });

  it('by a client that is gone before its answer disturbs nobody', async () => {
    const { read, release } = createPatience();
    const { url, reads, access } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ) + request);
    await until(() => reads.length === 1);
    wire.socket.resetAndDestroy();
    expect((await access(1))[0]).to.include({ outcome: 'caller_gone' });
    release();
  });
});
