import { expect } from 'chai';
import {
  announcesBody,
  forbidsCache,
  parseTarget,
  readFields,
} from '../../../../src/core/http/request/request-head.ts';
import { exchange, get, openConnection } from '../../../support/raw-http.ts';
import { LIST, post, READ, serve, serveRpc } from '../served.ts';

describe('field lines', () => {
  it('are found by name in any case, in their order', () => {
    const raw = [
      ...['Host', 'a'],
      ...['AUTHORIZATION', 'Bearer x'],
      ...['X-Authorization', 'Bearer y'],
      ...['authorization', 'Bearer z'],
      ...['X', 'host'],
      ...['hOST', 'b'],
      ...['mCP-protocol-VERSION', '1'],
    ];
    const fields = readFields(raw);
    expect(fields.authorization.map((value) => value.reveal())).to.deep.equal(['Bearer x', 'Bearer z']);
    // The credentials are not found anywhere else.
    expect(raw.filter((text) => /Bearer [xz]/.test(text))).to.deep.equal([]);
    expect(raw[3]).to.equal('[credential]');
    expect(fields).to.deep.include({
      host: ['a', 'b'],
      mcpProtocolVersion: '1',
      accept: undefined,
    });
    expect(readFields([])).to.deep.include({ authorization: [], host: [], bytes: 0, origin: undefined });
  });

  it('are joined where a name is repeated', () => {
    const fields = readFields([
      ...['Accept', 'a', 'If-None-Match', '"x"', 'accept', ''],
      ...['ACCEPT', 'b', 'if-none-match', '"y"', 'X-Forwarded-For', 'c'],
    ]);
    expect(fields).to.include({ accept: 'a, , b', ifNoneMatch: '"x", "y"', forwardedFor: 'c' });
  });

  it('count the bytes that they have on the wire', () => {
    expect(readFields(['Host', 'localhost', 'X', '', 'x-é', '\xff']).bytes).to.equal(
      Buffer.byteLength('Host: localhost\r\nX: \r\nx-é: \xff\r\n', 'latin1'),
    );
  });

  it('may have the names of properties of every object', () => {
    const { bytes, ...fields } = readFields(['__proto__', 'a', 'constructor', 'b', 'toString', 'c']);
    const { bytes: none, ...empty } = readFields([]);
    expect(bytes).to.be.above(none);
    expect(fields).to.deep.equal(empty);
  });
});

describe('a body', () => {
  it('is announced by a transfer coding, or a length that is not 0', () => {
    const announced = (...raw: string[]) => announcesBody(readFields(raw));
    expect(announced()).to.equal(false);
    expect(announced('Content-Length', '0')).to.equal(false);
    expect(announced('Content-Length', '1')).to.equal(true);
    expect(announced('Content-Length', 'x')).to.equal(true);
    expect(announced('Transfer-Encoding', 'chunked')).to.equal(true);
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

  it('is 415 with two media types', async () => {
    const { url } = await serveRpc(({ body }) => ({ status: 200, headers: [], body }));
    const twice = { 'Content-Type': 'application/json', 'content-type': 'application/json' };
    expect((await exchange(url, post('{}', twice))).status).to.equal(415);
  });

  it('is refused for two of Authorization, whatever their form', async () => {
    const { url, reads } = await serve();
    for (const other of ['Bearer other', 'Basic abc', '']) {
      const response = await exchange(url, get(READ, { authorization: other }));
      expect(response.json()).to.include({ code: 'invalid_request', status: 400 });
    }
    expect(reads).to.deep.equal([]);
  });

  it('is refused for a second Host or Authorization behind more lines than Node counts', async () => {
    const { url } = await serve();
    const many = 'a:\r\n'.repeat(2100);
    for (const [last, status] of [
      ['host: localhost\r\n', 400],
      ['authorization: Bearer another\r\n', 400],
      ['', 200],
    ] as const) {
      const connection = openConnection(url);
      connection.send(get(LIST).replace(/\r\n$/, `${many}${last}\r\n`));
      expect((await connection.receive()).status, last).to.equal(status);
    }
  });
});

describe('a request target', () => {
  it('in origin form stays as it is', () => {
    for (const [raw, path, query] of [
      ['/', '/', ''],
      ['/a/../B//c?d=%2F&e', '/a/../B//c', 'd=%2F&e'],
      ['//host/path', '//host/path', ''],
      ['*', '*', ''],
      ['/a?b=c?d', '/a', 'b=c?d'],
      ['/a?', '/a', ''],
    ]) {
      expect(parseTarget(raw ?? '')).to.deep.equal({ path, query, authority: undefined });
    }
  });

  it('in absolute form names a host, and is taken apart without being normalized', () => {
    expect(parseTarget('http://Host:80/a/../b?c')).to.deep.equal({ authority: 'Host:80', path: '/a/../b', query: 'c' });
    expect(parseTarget('HTTPS://[::1]:1/')).to.deep.equal({ authority: '[::1]:1', path: '/', query: '' });
  });

  it('in absolute form may lack a path', () => {
    expect(parseTarget('http://host')).to.deep.equal({ authority: 'host', path: '/', query: '' });
    expect(parseTarget('http://host?a=b')).to.deep.equal({ authority: 'host', path: '/', query: 'a=b' });
  });

  for (const raw of ['/a#b', '/a?b#c', 'http://host/#', 'ftp://host/', 'http:///path', 'host:80', 'path', '']) {
    it(`is not answered as ${JSON.stringify(raw)}`, () => {
      expect(parseTarget(raw)).to.equal(undefined);
    });
  }
});

describe('Cache-Control of a request', () => {
  for (const value of ['no-cache', 'No-Cache', 'max-age=0, no-cache', 'no-cache,max-age=0', '\t no-cache \t']) {
    it(`forbids the cache: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(true);
    });
  }

  for (const value of [undefined, '', 'max-age=0', 'no-cache-x', 'xno-cache', 'no-cache=x', 'no cache']) {
    it(`allows the cache: ${JSON.stringify(value)}`, () => {
      expect(forbidsCache(value)).to.equal(false);
    });
  }
});
