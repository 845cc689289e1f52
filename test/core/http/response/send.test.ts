import { expect } from 'chai';
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
  };
  for (const [what, [request, expected]] of Object.entries(responses)) {
    it(`has a request id, the current time and no type that browsers guess: ${what}`, async () => {
      const { url, ended } = await serveRpc(echo);
      const before = Date.parse(new Date().toUTCString());
      const { status, headers } = await exchange(url, request);
      expect(status).to.equal(expected);
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f]{16}-[0-9a-z]+$/);
      expect((await ended(1))[0]).to.include({ requestId: headers.get('x-request-id'), status });
      expect(Object.fromEntries(headers)).to.include({
        'x-content-type-options': 'nosniff',
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
    const { url, ended } = await serveRpc(() => ({ status: 200, headers: {}, body: left.shift() ?? [] }));
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
});
