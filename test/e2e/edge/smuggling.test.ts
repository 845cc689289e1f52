import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { exchange, get, requestText, sendTo } from '../../support/raw-http.ts';
import { RPC_FIELDS } from '../../support/rpc.ts';

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;
/** What would be answered, and asked of the platform, if it were taken for a request of its own. */
const SMUGGLED = get(READ, { Authorization: 'Bearer smuggled', 'X-Request-Id': 'smuggled' });
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const HEX = PING.length.toString(16);

/** A head with these lines, in the bytes that are sent. */
const head = (method: string, target: string, ...lines: readonly string[]) =>
  [`${method} ${target} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer token', ...lines, '', ''].join('\r\n');
const posted = (...lines: readonly string[]) =>
  head('POST', '/mcp', ...Object.entries(RPC_FIELDS).map(([name, value]) => `${name}: ${value}`), ...lines);
const chunked = posted('Transfer-Encoding: chunked');

/** Bytes in which a proxy and Portico might see the end of a request in two places: refused, and nothing behind is read. */
const REFUSED: Readonly<Record<string, string>> = {
  'a length and chunks': `${posted('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'chunks and a length': `${posted('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n`,
  'two lengths that differ': posted('Content-Length: 0', 'Content-Length: 40'),
  'two lengths in one line': posted('Content-Length: 0, 40'),
  'the same length twice': `${posted(`Content-Length: ${PING.length}`, `Content-Length: ${PING.length}`)}${PING}`,
  'a length with a sign': posted('Content-Length: -1'),
  'a length in hexadecimal': posted('Content-Length: 0x10'),
  'a length with a space in it': posted('Content-Length: 1 0'),
  'a length without end': posted('Content-Length: 99999999999999999999999'),
  'chunks under another coding': posted('Transfer-Encoding: chunked, identity'),
  'chunks twice': `${posted('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
  'a space before the colon': posted('Transfer-Encoding : chunked'),
  'a vertical tab around the coding': posted('Transfer-Encoding: \x0bchunked'),
  'a coding over two lines': posted('Transfer-Encoding:\r\n chunked'),
  'a header over two lines': head('GET', READ, 'X: a\r\n b'),
  'an Authorization over two lines': head('GET', READ, 'Authorization: Bearer a\r\n b'),
  'a bare line feed behind a header': head('GET', READ, 'X: a\nContent-Length: 40'),
  'a bare carriage return in a header': head('GET', READ, 'X: a\rContent-Length: 40'),
  'a NUL in a header': head('GET', READ, 'X: a\0b'),
  'a line feed in a token': head('GET', READ, 'Authorization: Bearer a\nX: b'),
  'a carriage return in a token': head('GET', READ, 'Authorization: Bearer a\rb'),
  'a head of bare line feeds': head('GET', READ).replaceAll('\r\n', '\n'),
  'a body on a GET': requestText('GET', READ, {}, SMUGGLED),
  'chunks on a GET': `${head('GET', READ, 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'a chunk whose size ends in a bare line feed': `${chunked}${HEX}\n${PING}\r\n0\r\n\r\n`,
  'a chunk extension with a bare line feed': `${chunked}${HEX};a\nb\r\n${PING}\r\n0\r\n\r\n`,
  'a chunk size beyond 64 bits': `${chunked}10000000000000000${HEX}\r\n${PING}\r\n0\r\n\r\n`,
  'a chunk size with a sign': `${chunked}-1\r\n${PING}\r\n0\r\n\r\n`,
  'a chunk size with 0x': `${chunked}0x${HEX}\r\n${PING}\r\n0\r\n\r\n`,
  'a chunk longer than its size': `${chunked}2\r\n${PING}\r\n0\r\n\r\n`,
  'a chunk without size': `${chunked}\r\n${PING}\r\n0\r\n\r\n`,
};

/** Codings of which a proxy may make something else: 501, and nothing behind is read (RFC 9112, section 6.1). */
const CODINGS = [
  'xchunked',
  'gzip, chunked',
  'identity, chunked',
  ', chunked',
  'chunked;q=1',
  'x\r\nTransfer-Encoding: chunked',
];

/** Bytes that are well-formed, and must mean nothing more than they say. */
const TAKEN: Readonly<Record<string, { readonly bytes: string; readonly status: number }>> = {
  'a credential behind the chunks is none': {
    bytes: `${chunked.replace('Authorization: Bearer token\r\n', '')}${HEX}\r\n${PING}\r\n0\r\nAuthorization: Bearer smuggled\r\n\r\n`,
    status: 401,
  },
  'line breaks in a target are part of it': {
    bytes: head('GET', `${LIST}/%0d%0aAuthorization:%20Bearer%20smuggled`),
    status: 404,
  },
  'chunked in upper case is chunked': {
    bytes: `${posted('Transfer-Encoding: CHUNKED')}${HEX}\r\n${PING}\r\n0\r\n\r\n`,
    status: 200,
  },
  'a chunk extension says nothing': {
    bytes: `${chunked}${HEX};smuggled="x"\r\n${PING}\r\n0\r\n\r\n`,
    status: 200,
  },
};

describe('request smuggling', () => {
  const log = captureLog();
  let platform: HttpUpstream;
  let url: string;

  before(async () => {
    platform = await startHttpUpstream(lists({ tools: [toolItem('one')] }));
    ({ url } = await startGateway(settingsFor(platform.url), { logger: log.logger }));
  });

  /** Sends bytes with a request behind them, which is not answered. */
  async function expectRefused(bytes: string, status: number, code: string): Promise<void> {
    const { responses, rest } = await sendTo(url, bytes + SMUGGLED).closed();
    expect(responses.map((response) => response.status)).to.deep.equal([status]);
    expect(responses[0]?.json()).to.include({ code });
    expect(rest.toString()).to.equal('');
  }

  for (const [what, bytes] of Object.entries(REFUSED)) {
    it(`is answered with one 400, and the bytes behind it are not a request: ${what}`, () =>
      expectRefused(bytes, 400, 'invalid_request'));
  }

  for (const coding of CODINGS) {
    it(`is answered with 501 in a coding that is not chunked: ${JSON.stringify(coding)}`, async () => {
      const field = `Transfer-Encoding: ${coding}`;
      for (const start of [posted(field), head('GET', READ, field)]) {
        await expectRefused(`${start}${HEX}\r\n${PING}\r\n0\r\n\r\n`, 501, 'transfer_coding_unsupported');
      }
    });
  }

  for (const [what, { bytes, status }] of Object.entries(TAKEN)) {
    it(`has no effect: ${what}`, async () => {
      const connection = sendTo(url, bytes);
      expect((await connection.receive()).status).to.equal(status);
      connection.send(get('/livez', { Connection: 'close' }));
      expect((await connection.closed()).responses.map((response) => response.status)).to.deep.equal([200]);
    });
  }

  it('causes no request to the platform and no error', async () => {
    expect(platform.requests).to.deep.equal([]);
    expect(log.text()).not.to.contain('smuggled');
    expect((await exchange(url, get(READ))).status).to.equal(200);
    expect(log.lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
