import { expect } from 'chai';
import fc from 'fast-check';
import { prefersGzip, prefersHtml, requireJsonAccepted } from '../../../../src/core/http/request/negotiate.ts';
import { cacheDirectives, parseTarget, takeCredentials } from '../../../../src/core/http/request/request-head.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { exchange, get, sendTo } from '../../../support/raw-http.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';
import { thrownBy } from '../../../support/thrown.ts';
import { LIST, READ, serve } from '../served.ts';

describe('credentials', () => {
  it('are taken out of the headers, in whatever case they are named, in their order', () => {
    const rawHeaders = [
      ...['Host', 'a', 'AUTHORIZATION', 'Bearer x', 'X-Key', 'y', 'authorization', 'Bearer z', 'x-key', 'w'],
      ...['X', 'host', 'hOST', 'b'],
    ];
    const headers: Record<string, string> = { authorization: 'Bearer x', 'x-key': 'y, w', host: 'a' };
    const { authorization, headerCredentials, all, hosts, headerBytes } = takeCredentials(
      { rawHeaders, headers } as never,
      new Set(['x-key']),
    );
    expect(authorization.map((value) => value.reveal())).to.deep.equal(['Bearer x', 'Bearer z']);
    expect(headerCredentials?.get('x-key')?.map((value) => value.reveal())).to.deep.equal(['y', 'w']);
    expect(all).to.have.length(4);
    expect({ hosts, headerBytes }).to.deep.equal({ hosts: 2, headerBytes: 97 });
    expect(JSON.stringify({ rawHeaders, headers })).not.to.match(/Bearer|"[yw]"/);
  });
});

describe('a request with repeated fields', () => {
  it('is answered as if they were joined', async () => {
    const { url, reads } = await serve();
    const etag = (await exchange(url, get(LIST))).headers.get('etag') ?? '';
    const known = await exchange(url, get(LIST, { 'If-None-Match': '"x"', 'if-none-match': etag }));
    expect(known.status).to.equal(304);
    const accepting = await exchange(url, get(LIST, { Accept: 'text/html', accept: 'application/json' }));
    expect(accepting.status).to.equal(200);
    await exchange(url, get(READ, { 'Cache-Control': 'max-age=0', 'cache-control': 'no-cache' }));
    expect(reads.map(({ noCache }) => noCache)).to.deep.equal([true]);
  });

  it('is refused for two of Authorization or Host, whatever their form, also behind more lines than Node counts', async () => {
    const { url, reads } = await serve();
    for (const other of ['Bearer other', 'Basic abc', ''])
      expect((await exchange(url, get(READ, { authorization: other }))).status, other).to.equal(400);
    expect(reads).to.deep.equal([]);
    const many = 'a:\r\n'.repeat(2100);
    for (const [last, status] of [
      ['host: localhost\r\n', 400],
      ['authorization: Bearer another\r\n', 400],
      ['', 200],
    ] as const) {
      const connection = sendTo(url, get(LIST).replace(/\r\n$/, `${many}${last}\r\n`));
      expect((await connection.receive()).status, last).to.equal(status);
    }
  });
});

describe('a request target', () => {
  it('in absolute form names a host, may lack a path, and is taken apart without being normalized', () => {
    for (const [raw, authority, path, query] of [
      ['http://Host:80/a/../B//c?d=%2F&e?f', 'Host:80', '/a/../B//c', 'd=%2F&e?f'],
      ['HTTPS://[::1]:1/', '[::1]:1', '/', ''],
      ['http://host', 'host', '/', ''],
      ['http://host?a=b', 'host', '/', 'a=b'],
    ] as const) {
      expect(parseTarget(raw)).to.deep.equal({ authority, path, query });
    }
  });

  it('in any other form is not answered', () => {
    for (const raw of ['/a#b', '/a?b#c', 'http://host/#', 'ftp://host/', 'http:///path', 'host:80', 'path', ''])
      expect(parseTarget(raw), raw).to.equal(undefined);
  });
});

describe('Cache-Control of a request', () => {
  it('forbids the cache with no-cache among its directives, in any case, and in no other form', () => {
    for (const value of ['no-cache', 'No-Cache', 'max-age=0, no-cache', 'no-cache,max-age=0', '\t no-cache \t'])
      expect(cacheDirectives(value), value).to.deep.equal({ noCache: true, noStore: false });
    for (const value of [undefined, '', 'max-age=0', 'no-cache-x', 'xno-cache', 'no-cache=x', 'no cache'])
      expect(cacheDirectives(value), value).to.deep.equal({ noCache: false, noStore: false });
    expect(cacheDirectives('no-store')).to.deep.equal({ noCache: false, noStore: true });
    expect(cacheDirectives('No-Store , no-cache')).to.deep.equal({ noCache: true, noStore: true });
  });
});

const codeOf = (work: () => unknown) => thrownBy(GatewayError, work)?.code ?? 'taken';

describe('a field of 1,025 characters', () => {
  it('is rejected before it is parsed, unlike one of 1,024', () => {
    const padded = (text: string, length: number) => `${text},${' '.repeat(length - text.length - 1)}`;
    for (const [length, expected] of [
      [1024, 'taken'],
      [1025, 'headers_too_large'],
    ] as const) {
      const accept = { accept: padded('application/json;q=0.5', length) };
      const html = { accept: padded('text/html', length) };
      const encoding = { 'accept-encoding': padded('gzip', length) };
      for (const work of [() => requireJsonAccepted(accept), () => prefersHtml(html), () => prefersGzip(encoding)]) {
        expect(codeOf(work)).to.equal(expected);
      }
    }
  });
});

const prefers = (value: string) => prefersGzip({ 'accept-encoding': value });

describe('Accept-Encoding', () => {
  it('chooses gzip by its weight, and is read correctly after many other values', () => {
    expect(prefersGzip({})).to.equal(false);
    for (const value of ['gzip, deflate, br, zstd', 'GZIP', '*', 'gzip, *;q=0', 'identity;q=0.1, gzip'])
      expect(prefers(value), value).to.equal(true);
    for (const value of ['br, deflate', 'gzip;q=0.5, identity', 'gzip;q=0, zstd', 'identity', '', 'br, *;q=0'])
      expect(prefers(value), value).to.equal(false);
    const values = Array.from(
      { length: 300 },
      (_, index) => `${index % 2 === 0 ? 'gzip' : 'identity'};q=0.${index + 500}`,
    );
    for (const value of [...values, ...values.toReversed()])
      expect(prefers(value), value).to.equal(value.startsWith('gzip'));
  });
});

describe('negotiation', () => {
  it(`accepts any header, or rejects it as not acceptable ${SEEDED}`, () => {
    const part = fc.constantFrom(
      ...['gzip', 'identity', '*', '*/*', 'application/json'],
      ...[';', 'q=', '0', '.5', ',', '"', '\\', '=', ' ', 'é'],
    );
    const header = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(header, header, (accept, acceptEncoding) => {
        prefers(acceptEncoding);
        expect(codeOf(() => requireJsonAccepted({ accept }))).to.be.oneOf(['taken', 'not_acceptable']);
      }),
      { seed: SEED },
    );
  });
});
