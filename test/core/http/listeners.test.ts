import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { atDepth } from '../../support/depth.ts';
import { exchange, get, openConnection, requestText } from '../../support/raw-http.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { echo, expectNoUncaught, LIST, post, READ, RPC, serve, serveRpc } from './served.ts';

const PIECES = [
  ...['GET ', 'POST ', 'CONNECT ', LIST, READ, RPC, ' HTTP/1.1\r\n'],
  ...['Host: localhost\r\n', 'Authorization: Bearer t\r\n'],
  ...['Content-Type: application/json\r\n', 'Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Expect: 100-continue\r\n', 'Connection: close\r\n', 'Connection: Upgrade\r\nUpgrade: x\r\n'],
  ...['Accept-Encoding: identity;q=0\r\n', 'If-None-Match: *\r\n', '\r\n', 'abc', '3\r\nabc\r\n', '0\r\n\r\n', '\0'],
  ...[get(LIST), get(READ), post('{}'), post('')],
];

const STATUSES = [100, 200, 304, 400, 401, 404, 405, 406, 408, 415, 421];

describe('arbitrary bytes at the public listener', () => {
  expectNoUncaught();

  for (const ends of [true, false]) {
    it(`are answered with complete responses${ends ? ', before a FIN' : ''} ${SEEDED}`, async () => {
      const { url, bugs } = await serveRpc(echo, {
        headersTimeoutMs: 500,
        requestTimeoutMs: 500,
        keepAliveTimeoutMs: 500,
      });
      const bytes = fc
        .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 })
        .map((pieces) => pieces.join(''));
      await Promise.all(
        fc.sample(bytes, { numRuns: atDepth(100, 1000), seed: SEED }).map(async (sent) => {
          const connection = openConnection(url);
          if (ends) connection.socket.end(sent, 'latin1');
          else connection.send(sent);
          const { responses, rest } = await connection.closed();
          expect(rest.toString('latin1'), JSON.stringify(sent)).to.equal('');
          for (const { status } of responses) expect(status, JSON.stringify(sent)).to.be.oneOf(STATUSES);
        }),
      );
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      expect(bugs).to.deep.equal([]);
    });
  }

  it(`are the same request in any pieces ${SEEDED}`, async () => {
    const { url } = await serveRpc(echo);
    const request = get(LIST) + get('/nothing') + get(READ) + post('{"a":1}');
    const cuts = fc
      .array(fc.nat(request.length), { maxLength: 8 })
      .map((at) => [0, ...at.sort((a, b) => a - b), request.length]);
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const connection = openConnection(url);
        for (const [index, end] of at.slice(1).entries()) {
          connection.send(request.slice(at[index], end));
          await new Promise(setImmediate);
        }
        const statuses: number[] = [];
        for (let count = 0; count < 4; count += 1) statuses.push((await connection.receive()).status);
        connection.socket.destroy();
        return statuses.join() === '200,404,200,200';
      }),
      { numRuns: atDepth(20, 200), seed: SEED },
    );
  });
});

describe('the probes', () => {
  it('need no credential, allow any host and origin, and are 200 with every upstream down', async () => {
    const down = new GatewayError('upstream_failed');
    const { url, ended } = await serve({ read: () => Promise.reject(down), allowedHosts: ['portico.example'] });
    const bare = { Host: undefined, Authorization: undefined };
    const foreign = { Host: '10.0.0.1:8080', Origin: 'https://evil.example' };
    for (const path of ['/livez', '/readyz']) {
      for (const target of [path, `${path}?x`]) {
        for (const fields of [bare, foreign, { Host: 'a b' }]) {
          const response = await exchange(url, get(target, fields));
          expect(response.headers.get('cache-control')).to.equal('no-store');
          expect(response.json(), target).to.deep.equal({ status: 'ok' });
        }
      }
      expect((await exchange(url, requestText('HEAD', path, bare))).status).to.equal(200);
      const { status, headers } = await exchange(url, requestText('POST', path, bare));
      expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    }
    const [record] = await ended(1);
    expect(record).to.include({ route: '/livez', outcome: 'ok' }).and.not.have.property('callerKey');
  });
});
