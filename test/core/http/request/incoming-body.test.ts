import { expect } from 'chai';
import type { HandleMessage } from '../../../../src/core/http/operations/rpc.ts';
import { aWhile } from '../../../support/a-while.ts';
import { eventually } from '../../../support/eventually.ts';
import { exchange, get, openConnection, requestText, sendTo } from '../../../support/raw-http.ts';
import {
  echo,
  expectNoUncaught,
  LIST,
  post,
  RPC,
  RPC_MAX_BYTES,
  type ServeOptions,
  serve,
  serveRpc,
} from '../served.ts';

async function serveEcho(options?: ServeOptions, maxBodyBytes?: number) {
  const bodies: Buffer[] = [];
  const handle: HandleMessage = (_request, _headers, body) => {
    bodies.push(body);
    return { status: 200, headers: {}, body };
  };
  const served = await serveRpc(handle, options, { maxBodyBytes });
  return { ...served, bodies };
}

const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const SLOW = { headersTimeoutMs: 100, requestTimeoutMs: 100 };

describe('a body that is read', () => {
  expectNoUncaught();

  it('may arrive after the headers, and after 100 Continue', async () => {
    const { url } = await serveEcho();
    const connection = sendTo(url, post('', { 'Content-Length': '7', Expect: '100-continue' }));
    expect((await connection.receive()).status).to.equal(100);
    connection.send('{"a"');
    await aWhile(20);
    connection.send(':1}');
    expect((await connection.receive()).body.toString()).to.equal('{"a":1}');
  });

  const tooLong = RPC_MAX_BYTES + 1;
  const chunked = { 'Transfer-Encoding': 'chunked' };

  it('may have as many bytes as its bound, and is 413 as soon as it is known to have more', async () => {
    const { url, bodies } = await serveEcho();
    const most = 'x'.repeat(RPC_MAX_BYTES);
    expect((await exchange(url, post(most))).status).to.equal(200);
    expect((await exchange(url, post(`${chunkOf(most)}0\r\n\r\n`, chunked))).status).to.equal(200);
    const announced = await exchange(url, post('', { 'Content-Length': String(tooLong), Expect: '100-continue' }));
    expect(announced.status).to.equal(413);
    const problem = (await exchange(url, post(`${chunkOf(`${most}x`)}0\r\n\r\n`, chunked))).json();
    expect(problem).to.include({ status: 413, code: 'too_large' });
    expect(problem['detail']).to.contain(String(RPC_MAX_BYTES));
    expect(bodies.map(({ length }) => length)).to.deep.equal([RPC_MAX_BYTES, RPC_MAX_BYTES]);
  });

  for (const [what, status, code, sent, bounds = {}] of [
    ['too large and never ends', 413, 'too_large', post(chunkOf('x'.repeat(tooLong)), chunked)],
    ['too slow', 408, 'request_timeout', post('{', { 'Content-Length': '10' }), SLOW],
    ['in chunks that do not parse', 400, 'invalid_request', post('3\r\n{"a\r\nnonsense', chunked)],
  ] as const) {
    it(`is refused if it is too large, too slow or does not parse, and the connection closes: ${status}, ${what}`, async () => {
      const { url, ended, bodies } = await serveEcho(bounds);
      const connection = sendTo(url, sent);
      const [response, ...others] = (await connection.closed()).responses;
      expect(others).to.deep.equal([]);
      expect(response?.json()).to.include({ status, code });
      expect(response?.headers.get('connection')).to.equal('close');
      expect((await ended(1))[0]).to.include({ outcome: code, route: RPC });
      expect(bodies).to.deep.equal([]);
    });
  }

  it('is 400 if a FIN ends it', async () => {
    const { url, ended, bodies, bugs } = await serveEcho();
    const connection = openConnection(url);
    connection.socket.end(post('{', { 'Content-Length': '10' }), 'latin1');
    expect((await connection.closed()).responses.map(({ status }) => status)).to.deep.equal([400]);
    expect((await ended(1))[0]).to.include({ outcome: 'invalid_request', route: RPC });
    expect(await ended(1)).to.have.length(1);
    expect(bodies).to.deep.equal([]);
    expect(bugs).to.deep.equal([]);
  });
});

describe('a body that is not read', () => {
  expectNoUncaught();

  it('is discarded before the response, which is not lost to a reset', async () => {
    const { url, ended } = await serve();
    const connection = openConnection(url);
    const piece = 'x'.repeat(10_000);
    connection.send(requestText('POST', LIST, { 'Content-Length': '100000' }));
    for (let pieces = 0; pieces < 10; pieces += 1) {
      expect(connection.arrived()).to.deep.equal([]);
      connection.send(piece);
      await aWhile(5);
    }
    const { responses, error } = await connection.closed();
    expect(responses.map(({ status }) => status)).to.deep.equal([405]);
    expect(error).to.equal(undefined);
    expect(await ended(1)).to.have.length(1);
  });

  it('is not waited for if the client waits for 100 Continue', async () => {
    const { url } = await serve();
    const connection = sendTo(url, get(LIST, { 'Content-Length': '10', Expect: '100-continue' }));
    const first = await Promise.race([connection.closed(), aWhile(900)]);
    expect(first?.responses.map(({ status }) => status)).to.deep.equal([400]);
  });
});

describe('bodies that are held', () => {
  expectNoUncaught();

  /** Responds after `release`, and holds 2000 bytes at most: 1000 of one address. */
  async function serveHolding() {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const served = await serveRpc(
      async (_request, _headers, body) => {
        asked += 1;
        await gate.promise;
        return { status: 200, headers: {}, body };
      },
      { maxHeldBodyBytes: 2000 },
    );
    const hold = async (bytes: number) => {
      const before = asked;
      const connection = sendTo(served.url, post('x'.repeat(bytes)));
      await eventually(() => asked > before);
      return connection;
    };
    return { ...served, hold, release: gate.resolve };
  }

  it('are bounded, all together: 503 beyond', async () => {
    const { url, hold, release, bounds } = await serveHolding();
    const held = [await hold(600)];
    const refused = await exchange(url, post('x'.repeat(600)));
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(refused.json()).to.include({ code: 'overloaded' });
    held.push(await hold(400));
    expect((await exchange(url, post('', { 'Content-Length': '5' }))).status).to.equal(503);
    expect(bounds).to.deep.equal(['http.maxHeldBodyBytes', 'http.maxHeldBodyBytes']);
    // What has no body is not concerned.
    expect((await exchange(url, get(LIST))).status).to.equal(200);
    release();
    for (const connection of held) expect((await connection.receive()).status).to.equal(200);
    expect((await exchange(url, post('x'.repeat(1000)))).status).to.equal(200);
  });

  it('leave half of the room to others than the unverified callers of one address', async () => {
    const { url, ended } = await serveRpc(echo, { maxHeldBodyBytes: 2000, trustedProxies: ['127.0.0.1'] });
    const from = (address: string, token: string) => ({
      'X-Forwarded-For': address,
      Authorization: `Bearer ${token}`,
      'Content-Length': '600',
    });
    const unfinished = ['a', 'b'].map((token) => sendTo(url, post('x'.repeat(500), from('192.0.2.1', token))));
    await eventually(async () => (await exchange(url, post('x'.repeat(600), from('192.0.2.1', 'c')))).status === 503);
    expect((await exchange(url, post('x'.repeat(600), from('192.0.2.2', 'd')))).status).to.equal(200);
    for (const { socket } of unfinished) socket.resetAndDestroy();
    await eventually(async () => (await exchange(url, post('x'.repeat(600), from('192.0.2.1', 'c')))).status === 200);
    expect((await ended(1))[0]).to.include({ outcome: 'overloaded' });
  });

  it('are released when their client hangs up', async () => {
    const { url, hold, release, ended } = await serveHolding();
    (await hold(600)).socket.resetAndDestroy();
    await ended(1);
    release();
    expect((await exchange(url, post('x'.repeat(1000)))).status).to.equal(200);
  });

  it('count by the bytes that have arrived', async () => {
    const { url, release, ended } = await serveHolding();
    release();
    const slow = sendTo(url, post('x'.repeat(600), { 'Content-Length': '1000' }));
    await eventually(async () => (await exchange(url, post('x'.repeat(600)))).status === 503);
    expect((await exchange(url, post('x'.repeat(400)))).status).to.equal(200);
    const before = (await ended(1)).length;
    slow.socket.resetAndDestroy();
    await ended(before + 1);
    expect((await exchange(url, post('x'.repeat(1000)))).status).to.equal(200);
  });

  it('are whole in pieces of any size', async () => {
    const { url } = await serveEcho();
    const body = Array.from({ length: RPC_MAX_BYTES }, (_, index) => String.fromCharCode(33 + (index % 90))).join('');
    for (const size of [1, 2, 3, 7, 100, 1000]) {
      let chunks = '';
      for (let at = 0; at < body.length; at += size) chunks += chunkOf(body.slice(at, at + size));
      const response = await exchange(url, post(`${chunks}0\r\n\r\n`, { 'Transfer-Encoding': 'chunked' }));
      expect(response.body.toString()).to.equal(body);
    }
  });
});
