import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { loadOf, manyTools } from '../../../support/platform/loads.ts';
import { exchange, get, openConnection, requestText } from '../../../support/raw-http.ts';
import { LIST, READ, serve } from '../served.ts';

const LARGE = loadOf(manyTools());
const { etag, bytes } = LARGE.snapshot;

describe('a snapshot that is sent', () => {
  for (const [coding, decode] of Object.entries({ zstd: zstdDecompressSync, gzip: gunzipSync })) {
    it(`is the same bytes in ${coding}, under the same tag`, async () => {
      const { url } = await serve({ read: () => LARGE });
      const { headers, body } = await exchange(url, get(READ, { 'Accept-Encoding': coding }));
      expect(headers.get('content-encoding')).to.equal(coding);
      expect(headers.get('etag')).to.equal(etag);
      expect(Number(headers.get('content-length')))
        .to.equal(body.length)
        .and.be.below(bytes.length);
      expect(decode(body)).to.deep.equal(bytes);
    });
  }

  it('is uncompressed below compressMinBytes', async () => {
    const fields = { 'Accept-Encoding': 'zstd' };
    const larger = await serve({ read: () => LARGE, compressMinBytes: bytes.length + 1 });
    expect((await exchange(larger.url, get(READ, fields))).headers.has('content-encoding')).to.equal(false);
    const equal = await serve({ read: () => LARGE, compressMinBytes: bytes.length });
    expect((await exchange(equal.url, get(READ, fields))).headers.get('content-encoding')).to.equal('zstd');
  });

  it('can be the list', async () => {
    const { url } = await serve({ compressMinBytes: 1 });
    const plain = await exchange(url, get(LIST));
    const { headers, body } = await exchange(url, get(LIST, { 'Accept-Encoding': 'gzip' }));
    expect(headers.get('content-encoding')).to.equal('gzip');
    expect(gunzipSync(body)).to.deep.equal(plain.body);
  });

  for (const fields of [{}, { 'Accept-Encoding': 'zstd' }, { Authorization: undefined }, { 'If-None-Match': '*' }]) {
    it(`has the same headers as HEAD, and no body then, with ${JSON.stringify(fields)}`, async () => {
      const { url, ended } = await serve({ read: () => LARGE });
      const id = { 'X-Request-Id': 'same' };
      const whole = await exchange(url, get(READ, { ...id, ...fields }));
      const connection = openConnection(url, { head: true });
      connection.send(requestText('HEAD', READ, { ...id, ...fields, Connection: 'close' }));
      const { responses, rest } = await connection.closed();
      const comparable = (headers: Headers) => {
        const { date, connection: how, 'keep-alive': keepAlive, ...others } = Object.fromEntries(headers);
        return others;
      };
      expect(responses.map(({ status }) => status)).to.deep.equal([whole.status]);
      expect(comparable(responses[0]?.headers ?? new Headers())).to.deep.equal(comparable(whole.headers));
      expect(rest).to.have.length(0);
      expect((await ended(2))[1]).to.include({ method: 'HEAD', bytes: 0 });
    });
  }

  for (const target of [LIST, READ]) {
    it(`is 304 for a client that has it: ${target}`, async () => {
      const { url } = await serve({ read: () => LARGE });
      const tag = (await exchange(url, get(target))).headers.get('etag') ?? '';
      const fields = { 'If-None-Match': `"x", ${tag}`, 'Cache-Control': 'no-cache', 'Accept-Encoding': 'gzip' };
      const { status, headers, body } = await exchange(url, get(target, fields));
      expect({ status, length: body.length }).to.deep.equal({ status: 304, length: 0 });
      expect(Object.fromEntries(headers)).to.include({
        etag: tag,
        vary: 'Authorization, Accept, Accept-Encoding',
        'cache-control': 'private, no-cache',
      });
      for (const name of ['content-type', 'content-length', 'content-encoding']) {
        expect(headers.has(name)).to.equal(false);
      }
      expect((await exchange(url, get(target, { 'If-None-Match': 'W/"x"' }))).status).to.equal(200);
    });
  }

  it('is not compressed for a 304', async () => {
    const { url } = await serve({
      read: () => LARGE,
      representations: { encoded: () => expect.fail('it is made') } as never,
    });
    expect((await exchange(url, get(READ, { 'If-None-Match': etag, 'Accept-Encoding': 'gzip' }))).status).to.equal(304);
  });
});

describe('a snapshot that is not compressed in time', () => {
  /** Compresses for ever, as long as somebody waits. */
  function createSlow() {
    const signals: AbortSignal[] = [];
    const encoded = (_held: unknown, _coding: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    return { signals, representations: { encoded } as never };
  }

  it('is sent uncompressed within the deadline of the read', async () => {
    const { representations, signals } = createSlow();
    const { url, bounds } = await serve({ read: () => LARGE, representations, readDeadlineMs: 50 });
    const { status, headers, body } = await exchange(url, get(READ, { 'Accept-Encoding': 'zstd, gzip' }));
    expect(status).to.equal(200);
    expect(headers.has('content-encoding')).to.equal(false);
    expect(headers.get('etag')).to.equal(etag);
    expect(body).to.deep.equal(bytes);
    expect(bounds).to.deep.equal(['http.maxCompressions']);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('is 503 for a client that does not accept it uncompressed', async () => {
    const { representations } = createSlow();
    const { url, ended } = await serve({ read: () => LARGE, representations, readDeadlineMs: 50 });
    const response = await exchange(url, get(READ, { 'Accept-Encoding': 'zstd, identity;q=0' }));
    expect(response.status).to.equal(503);
    expect(response.headers.get('retry-after')).to.equal('1');
    expect(response.json()).to.include({ code: 'overloaded' });
    expect((await ended(1))[0]).to.include({ outcome: 'overloaded' });
  });

  it('shares the deadline with its read', async () => {
    // Each by itself would be in time.
    const read = () => new Promise<typeof LARGE>((resolve) => setTimeout(resolve, 300, LARGE));
    const encoded = () => new Promise<Buffer>((resolve) => setTimeout(resolve, 250, Buffer.from('coded')));
    const { url } = await serve({ read, representations: { encoded } as never, readDeadlineMs: 400 });
    const { status, headers } = await exchange(url, get(READ, { 'Accept-Encoding': 'zstd' }));
    expect([status, headers.has('content-encoding')]).to.deep.equal([200, false]);
  });

  it('is not compressed for a client that has gone', async () => {
    const { representations, signals } = createSlow();
    const { url, ended } = await serve({ read: () => LARGE, representations });
    const connection = openConnection(url);
    connection.send(get(READ, { 'Accept-Encoding': 'zstd' }));
    await eventually(() => signals.length === 1);
    connection.socket.destroy();
    expect((await ended(1))[0]).to.include({ outcome: 'caller_gone' });
    expect(signals[0]?.aborted).to.equal(true);
  });
});
