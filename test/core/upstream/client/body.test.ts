import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { asking, calm, errorOf, open, serve, serveRaw } from '../harness.ts';

const MAX = 1024;
const PAGE = JSON.stringify({ projects: [{ name: 'Größe — 😀' }] });

describe('the body of an upstream', () => {
  async function answering(body: string | Buffer, headers: Record<string, string | string[]> = {}) {
    const server = await serve((_request, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
    return open(server.url, { maxPageBytes: MAX });
  }

  async function textOf(body: string | Buffer, headers: Record<string, string | string[]> = {}) {
    return (await (await answering(body, headers)).get(asking(), calm())).page;
  }

  async function reasonOf(body: string | Buffer, headers: Record<string, string | string[]> = {}) {
    const error = await errorOf((await answering(body, headers)).get(asking(), calm()));
    expect(error).to.include({ code: 'upstream_invalid', upstream: 'projects' });
    return error.reason;
  }

  const CODINGS = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    GZIP: gzipSync,
    br: brotliCompressSync,
  };

  it('is returned unchanged, without a byte order mark', async () => {
    expect(await textOf(PAGE)).to.equal(PAGE);
    expect(await textOf(`\uFEFF${PAGE}`)).to.equal(PAGE);
    expect(await textOf('')).to.equal('');
  });

  it('is decoded from gzip, x-gzip and br', async () => {
    for (const [coding, encode] of Object.entries(CODINGS)) {
      expect(await textOf(encode(PAGE), { 'content-encoding': coding }), coding).to.equal(PAGE);
    }
    expect(await textOf(gzipSync(`\uFEFF${PAGE}`), { 'content-encoding': 'identity, gzip' })).to.equal(PAGE);
    expect(await textOf(PAGE, { 'content-encoding': 'identity' })).to.equal(PAGE);
  });

  it('is refused when it is not UTF-8', async () => {
    const utf16 = Buffer.from('["x"]', 'utf16le').swap16().fill(0xfe, 0, 1);
    for (const body of [Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), Buffer.from('["Größe"]', 'latin1'), utf16])
      expect(await reasonOf(body)).to.equal('the body is not UTF-8');
  });

  it('is refused in a coding that was not requested, and in several', async () => {
    const reason = 'the content coding is unknown or stacked';
    expect(await reasonOf(deflateSync(PAGE), { 'content-encoding': 'deflate' })).to.equal(reason);
    expect(await reasonOf(PAGE, { 'content-encoding': 'toString' })).to.equal(reason);
    expect(await reasonOf(gzipSync(gzipSync(PAGE)), { 'content-encoding': 'gzip, gzip' })).to.equal(reason);
    expect(await reasonOf(gzipSync(gzipSync(PAGE)), { 'content-encoding': ['gzip', 'gzip'] })).to.equal(reason);
  });

  it('is refused when its coding is broken', async () => {
    const reason = 'the body is not what its Content-Encoding says';
    for (const coding of Object.keys(CODINGS)) {
      expect(await reasonOf(PAGE, { 'content-encoding': coding }), coding).to.equal(reason);
    }
    const whole = gzipSync(PAGE);
    for (const body of [whole.subarray(0, -9), '', Buffer.concat([whole, Buffer.from('rest')])])
      expect(await reasonOf(body, { 'content-encoding': 'gzip' })).to.equal(reason);
  });

  it('may be as large as maxPageBytes and not a byte larger, with and without Content-Length', async () => {
    const most = 'x'.repeat(MAX);
    expect(await textOf(most, { 'content-length': `${MAX}` })).to.equal(most);
    expect(await textOf(most)).to.equal(most);
    expect(await textOf(gzipSync(most), { 'content-encoding': 'gzip' })).to.equal(most);
    const reason = 'the body is larger than maxPageBytes';
    expect(await reasonOf(`${most}x`, { 'content-length': `${MAX + 1}` })).to.equal(reason);
    expect(await reasonOf(`${most}x`)).to.equal(reason);
  });

  it('is not inflated beyond maxPageBytes', async () => {
    for (const [coding, encode, bytes] of [
      ['br', brotliCompressSync, 1_000_000],
      ['gzip', gzipSync, MAX * 100],
    ] as const) {
      const bomb = encode('x'.repeat(bytes));
      expect(bomb.length).to.be.lessThan(MAX);
      expect(await reasonOf(bomb, { 'content-encoding': coding })).to.equal('the body is larger than maxPageBytes');
    }
  });

  /** A request that keeps account of what is held for it, and calls `heard` with the sum at each change. */
  function accounted(heard = (_sum: number) => {}) {
    const account = { sum: 0, most: 0 };
    const hold = (bytes: number) => {
      account.sum += bytes;
      account.most = Math.max(account.most, account.sum);
      heard(account.sum);
    };
    return { account, request: { ...asking(), hold } };
  }

  it('is reported while it is held, encoded and decoded, and once it is decoded only decoded', async () => {
    const body = 'x'.repeat(1000);
    const coded = gzipSync(body);
    const plain = accounted();
    await (await answering(body)).get(plain.request, calm());
    expect(plain.account).to.deep.equal({ sum: 1000, most: 1000 });
    const decoded = accounted();
    await (await answering(coded, { 'content-encoding': 'gzip' })).get(decoded.request, calm());
    expect(decoded.account).to.deep.equal({ sum: 1000, most: 1000 + coded.length });
  });

  it('ends if it does not fit, encoded or decoded', async () => {
    const full = new GatewayError('overloaded', { reason: 'no room' });
    for (const [body, headers] of [
      ['x'.repeat(500), {}],
      [gzipSync('x'.repeat(500)), { 'content-encoding': 'gzip' }],
    ] as const) {
      const { account, request } = accounted((sum) => {
        if (sum >= 500) throw full;
      });
      expect(await errorOf((await answering(body, headers)).get(request, calm()))).to.include({
        code: 'overloaded',
        reason: 'no room',
        countsForBreaker: false,
      });
      expect(account.sum).to.equal(0);
    }
  });

  it('whose Content-Length is too large is refused before it is received', async () => {
    const { url } = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n['));
    const error = await errorOf(open(url).get(asking(), calm()));
    expect(error.reason).to.equal('the body is larger than maxPageBytes');
  });
});
