import { expect } from 'chai';
import { aWhile } from '../../../support/a-while.ts';
import type { RawResponse } from '../../../support/platform/raw-response.ts';
import { get, openConnection, requestText } from '../../../support/raw-http.ts';
import { serveReading } from '../over-tls.ts';
import { echo, expectNoUncaught, LIST, post, serve, serveRpc } from '../served.ts';

/** Sends pieces, one after the other, and gives the responses that come until the server closes the connection. */
async function send(url: string, ...pieces: string[]): Promise<readonly RawResponse[]> {
  const connection = openConnection(url);
  for (const piece of pieces) {
    connection.send(piece);
    await aWhile(10);
  }
  return (await connection.closed()).responses;
}

const statusesOf = (responses: readonly RawResponse[]) => responses.map(({ status }) => status);

describe('bytes that are not a request', () => {
  expectNoUncaught();

  for (const [name, bytes] of Object.entries({
    garbage: '\x16\x03\x01 garbage\r\n\r\n',
    'an unknown method': requestText('FROB', LIST),
    'a bad target': 'GET mcp HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'a header without a colon': 'GET / HTTP/1.1\r\nHost localhost\r\n\r\n',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  })) {
    it(`are 400, and the connection closes: ${name}`, async () => {
      const { url, ended } = await serve();
      const [response, ...others] = await send(url, bytes);
      expect(others).to.deep.equal([]);
      expect(response?.headers.get('content-type')).to.equal('application/problem+json');
      expect(response?.headers.get('connection')).to.equal('close');
      const requestId = response?.headers.get('x-request-id');
      expect(response?.json()).to.include({ status: 400, code: 'invalid_request', requestId });
      const [record, ...more] = await ended(1);
      expect(more).to.deep.equal([]);
      expect(record).to.include({
        ...{ edge: 'http', route: 'unmatched', status: 400, outcome: 'invalid_request', requestId },
        bytes: response?.body.length,
      });
      expect(record?.error?.cause).to.have.property('code').that.matches(/^HPE_/);
    });
  }

  it('close the connection after the requests before them, and do not belong to a complete body', async () => {
    const { connection, release, ended } = await serveReading(`${get(LIST)}garbage\r\n\r\n`);
    await aWhile(20);
    expect(connection.arrived()).to.deep.equal([]);
    release();
    expect(statusesOf((await connection.closed()).responses)).to.deep.equal([200, 200]);
    expect((await ended(2)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok']);
    const { url } = await serveRpc(echo);
    const [first, ...others] = await send(url, `${post('{}')}garbage\r\n\r\n`);
    expect(first?.body.toString()).to.equal('{}');
    expect(others).to.deep.equal([]);
  });
});

describe('a connection on which nothing is sent', () => {
  it('is closed in time, without a response', async () => {
    const { url, ended } = await serve({ headersTimeoutMs: 100, requestTimeoutMs: 150 });
    expect(await send(url)).to.deep.equal([]);
    expect(await ended(0)).to.deep.equal([]);
  });
});
