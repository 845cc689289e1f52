import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Exchange } from '../../../../src/core/http/exchange.ts';
import { ALWAYS, LOAD_NOTHING, send } from '../../../../src/core/http/response/send.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { exchange, get, openConnection, requestText } from '../../../support/raw-http.ts';
import { echo, LIST, post, READ, serveRpc } from '../served.ts';

describe('every response', () => {
  const responses: Readonly<Record<string, readonly [request: string, status: number]>> = {
    'a list': [get(LIST), 200],
    'a read': [get(READ), 200],
    'a 304': [get(LIST, { 'If-None-Match': '*' }), 304],
    'JSON-RPC': [post('{}'), 200],
    'a probe': [get('/livez'), 200],
    HEAD: [requestText('HEAD', LIST), 200],
    'a problem': [get('/nothing'), 404],
    garbage: ['garbage\r\n\r\n', 400],
    CONNECT: ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
  };
  for (const [what, [request, expected]] of Object.entries(responses)) {
    it(`has a request id, the current time and the security headers: ${what}`, async () => {
      const { url, ended } = await serveRpc(echo);
      const before = Date.parse(new Date().toUTCString());
      const { status, headers } = await exchange(url, request);
      expect(status).to.equal(expected);
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f]{16}-[0-9a-z]+$/);
      expect((await ended(1))[0]).to.include({ requestId: headers.get('x-request-id'), status });
      expect(Object.fromEntries(headers)).to.include({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(Date.parse(headers.get('date') ?? '')).to.be.within(before, Date.now());
      for (const name of ['server', 'x-powered-by', 'transfer-encoding']) expect(headers.has(name)).to.equal(false);
    });
  }
});

describe('a long body', () => {
  const LONG = Buffer.from(Array.from({ length: 1_500_000 }, (_, index) => `${index % 1_000_003} `).join(''));
  const pieces = [LONG.subarray(0, 5), LONG.subarray(5, 3_000_000), Buffer.alloc(0), LONG.subarray(3_000_000)];

  it('is sent whole among pipelined ones, in one piece or in several, to a client that reads slowly', async () => {
    const bodies = [[Buffer.from('before')], pieces, [LONG], [Buffer.from('behind')]];
    const left = [...bodies];
    const { url, ended } = await serveRpc(() => ({ status: 200, headers: [], body: left.shift() ?? [] }));
    const connection = openConnection(url);
    connection.socket.pause();
    connection.send(post('{}').repeat(4));
    await eventually(() => left.length < 3);
    connection.socket.resume();
    for (const body of bodies) expect((await connection.receive()).body.equals(Buffer.concat(body))).to.equal(true);
    expect((await ended(4)).map(({ outcome, bytes }) => [outcome, bytes])).to.deep.equal(
      bodies.map((body) => ['ok', Buffer.concat(body).length]),
    );
  });

  it('is handed to the system 1 MiB at a time', async () => {
    const sockets: Socket[] = [];
    const watch = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
    subscribe('http.server.request.start', watch);
    onCleanup(() => unsubscribe('http.server.request.start', watch));
    const { url } = await serveRpc(() => ({ status: 200, headers: [], body: pieces }));
    const connection = openConnection(url);
    connection.socket.pause();
    connection.send(post('{}'));
    await eventually(() => (sockets[0]?.writableLength ?? 0) > 0);
    expect(sockets[0]?.writableLength).to.be.below(1_100_000);
    connection.socket.resume();
    expect((await connection.receive()).body.length).to.equal(LONG.length);
  });
});

describe('a head', () => {
  const kinds = [
    { status: 200, headers: ['ETag', 'W/"x"', 'X-Latin', 'é'], body: Buffer.from('[]') },
    { status: 200, headers: [], body: [Buffer.from('['), Buffer.from(']')] },
    { status: 204, headers: [], body: undefined },
    { status: 304, headers: ['ETag', 'W/"x"'], body: undefined },
    { status: 503, headers: ['Retry-After', '1'], body: Buffer.from('{}'), policy: "default-src 'self'" },
  ];

  /** All bytes of the response of a server, its date apart. */
  async function bytesOf(answer: RequestListener, request: string): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    onCleanup(() => server.close());
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(request);
    let bytes = '';
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
      // What stays open has said so, and all of it comes in one piece here.
      if (/^connection: keep-alive/im.test(bytes)) socket.end();
    });
    await once(socket, 'close');
    return bytes.replace(/^Date: .*$/m, '');
  }

  for (const version of ['1.0', '1.1']) {
    for (const method of ['GET', 'HEAD']) {
      for (const connection of ['close', 'keep-alive']) {
        for (const isLast of [false, true]) {
          const way = `${method} of HTTP/${version}, ${connection}, ${isLast ? 'the last one' : 'not the last one'}`;
          it(`is the one that Node writes: ${way}`, async () => {
            const request = `${method} / HTTP/${version}\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;
            for (const response of kinds) {
              const { status, headers, body, policy = LOAD_NOTHING } = response;
              const ours: RequestListener = (req, res) => {
                const exchange = { req, res, requestId: 'id', method: req.method, vary: 'Accept', responseHeaders: {} };
                send(exchange as unknown as Exchange, response, isLast);
              };
              const nodes: RequestListener = (_, res) => {
                const all = [...ALWAYS, 'Content-Security-Policy', policy, 'X-Request-Id', 'id', ...headers];
                const whole = body && Buffer.concat([body].flat());
                all.push('Vary', 'Accept', ...(whole ? ['Content-Length', String(whole.length)] : []));
                res.writeHead(status, [...all, ...(isLast ? ['Connection', 'close'] : [])]).end(whole);
              };
              expect(await bytesOf(ours, request)).to.equal(await bytesOf(nodes, request));
            }
          });
        }
      }
    }
  }
});
