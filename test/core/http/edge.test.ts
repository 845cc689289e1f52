import { once } from 'node:events';
import { expect } from 'chai';
import { aWhile, standStill } from '../../support/a-while.ts';
import { createHeldReads } from '../../support/catalogue.ts';
import { eventually } from '../../support/eventually.ts';
import { loadOf, manyTools } from '../../support/platform/loads.ts';
import { get, type RawConnection } from '../../support/raw-http.ts';
import { CARRIERS } from './over-tls.ts';
import { echo, expectNoUncaught, LIST, LONG_MS, post, READ, type Served } from './served.ts';

/** More than the buffers of a connection take. */
const LARGE = loadOf(manyTools(100_000));

for (const { over, serve, serveRpc, openConnection, sendTo } of CARRIERS) {
  /** Long enough for bytes on loopback to arrive. What must not happen meanwhile would have time to. */
  const A_WHILE_MS = 30;
  /** A connection that was in use so long ago is idle: more than a second, since a timer may fire a little early. */
  const BUSY_MS = 1100;

  /** A connection that has been used, and is kept. */
  async function keptConnection({ url }: Pick<Served, 'url'>): Promise<RawConnection> {
    const connection = sendTo(url, get(LIST));
    await connection.receive();
    return connection;
  }

  describe(`draining over ${over}`, () => {
    expectNoUncaught();

    it('closes idle connections at once, and accepts no new ones', async () => {
      const served = await serve();
      const kept = await keptConnection(served);
      const silent = openConnection(served.url);
      await once(silent.socket, 'connect');
      // The server takes its connections in turn.
      await keptConnection(served);
      expect(await served.edge.drain(LONG_MS)).to.equal(true);
      expect((await kept.closed()).error).to.equal(undefined);
      expect((await silent.closed()).error).to.equal(undefined);
      expect((await openConnection(served.url).closed()).error).to.equal('ECONNREFUSED');
    });

    it('answers a request that was being received, and closes its connection', async () => {
      const served = await serve();
      const whole = await keptConnection(served);
      const half = await keptConnection(served);
      const probe = await keptConnection(served);
      half.send('GET /mcp/v1/resources HTTP/1.1\r\n');
      probe.send('GET /livez HTTP/1.1\r\n');
      await aWhile(A_WHILE_MS);
      whole.send(get(LIST));
      const drained = served.edge.drain(LONG_MS);
      await aWhile(A_WHILE_MS);
      half.send('Host: localhost\r\nAuthorization: Bearer token\r\n\r\n');
      probe.send('\r\n');
      for (const connection of [whole, half]) {
        const [response] = (await connection.closed()).responses;
        expect(response?.status).to.equal(200);
        expect(response?.headers.get('connection')).to.equal('close');
      }
      expect((await probe.closed()).responses.map(({ status }) => status)).to.deep.equal([200]);
      expect(await drained).to.equal(true);
    });

    it('lets a client finish reading its response', async () => {
      const served = await serve({ read: () => LARGE });
      const { socket, send } = openConnection(served.url);
      socket.pause();
      send(get(READ));
      await eventually(() => served.reads.length === 1);
      const drained = served.edge.drain(LONG_MS);
      await aWhile(A_WHILE_MS);
      expect(await served.ended(0)).to.deep.equal([]);
      socket.resume();
      await once(socket, 'close');
      expect(socket.bytesRead).to.be.above(LARGE.snapshot.bytes.length);
      expect(await drained).to.equal(true);
      expect((await served.ended(1))[0]).to.include({ outcome: 'ok', bytes: LARGE.snapshot.bytes.length });
    });

    it('leaves no connection open, whatever its state', async () => {
      const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
      const before = sockets();
      const { read } = createHeldReads();
      const served = await serveRpc(echo, { read });
      const open = (sent = '') => {
        const connection = openConnection(served.url);
        if (sent !== '') connection.send(sent);
        return connection;
      };
      const connections = [
        ...['GET / HTTP/1.1\r\n', get(LIST), get(READ), get(READ) + get(LIST) + get(READ)].map((sent) => open(sent)),
        ...[`${get(READ)}garbage\r\n\r\n`, 'garbage\r\n\r\n'].map((sent) => open(sent)),
        open('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'),
        open(post('', { 'Content-Length': '10' })),
        open(`${post('', { 'Transfer-Encoding': 'chunked' })}5\r\nab`),
        open(post('ab', { Authorization: undefined, 'Content-Length': '3' })),
        open(),
      ];
      await eventually(() => served.reads.length === 3);
      expect(await served.edge.drain(50)).to.equal(false);
      const closed = await Promise.all(connections.map((connection) => connection.closed()));
      expect(closed).to.have.length(11);
      await eventually(() => sockets() <= before);
    });
  });

  // The rest does not depend on the carrier.
  if (over === 'TLS') continue;

  describe('connections beyond maxConnections', () => {
    it('are refused, with one log line and one count each', async () => {
      const { url, refusals, bounds } = await serve({ maxConnections: 2 });
      const kept = [await keptConnection({ url }), await keptConnection({ url })];
      for (let count = 0; count < 3; count += 1) {
        expect((await openConnection(url).closed()).responses).to.deep.equal([]);
      }
      expect(refusals).to.deep.equal([{ maxConnections: 2 }]);
      expect(bounds).to.deep.equal(Array(3).fill('http.maxConnections'));
      kept[0]?.socket.destroy();
      // One that is closed makes room.
      await eventually(async () => (await keptConnection({ url }).catch(() => undefined)) !== undefined);
      kept[1]?.send(get(LIST));
      expect((await kept[1]?.receive())?.status).to.equal(200);
    });

    it('replace the longest idle ones, and none in use', async () => {
      const { read, release } = createHeldReads();
      const served = await serve({ read, maxConnections: 4 });
      // Opened first, and used last.
      const used = await keptConnection(served);
      const reading = sendTo(served.url, get(READ));
      await eventually(() => served.reads.length === 1);
      const silent = openConnection(served.url);
      const idle = await keptConnection(served);
      const gone: string[] = [];
      for (const [name, connection] of Object.entries({ silent, idle, used })) {
        connection.closed().then(({ error }) => gone.push(error ?? name));
      }
      expect((await openConnection(served.url).closed()).responses).to.deep.equal([]);
      await aWhile(BUSY_MS);
      expect(gone).to.deep.equal([]);
      used.send(get(LIST));
      expect((await used.receive()).status).to.equal(200);
      await eventually(async () => {
        await keptConnection(served).catch(() => {});
        return gone.length >= 2;
      });
      expect(gone.slice(0, 2)).to.deep.equal(['silent', 'idle']);
      release();
      expect((await reading.receive()).status).to.equal(200);
    });

    it('find a free slot if others are idle', async () => {
      const served = await serve({ maxConnections: 2 });
      const idle = await keptConnection(served);
      await aWhile(BUSY_MS);
      await keptConnection(served);
      expect((await idle.closed()).error).to.equal(undefined);
      await keptConnection(served);
      expect(served.bounds).to.deep.equal([]);
    });
  });

  describe('an idle connection', () => {
    it('is kept for a request that arrived while the process was busy', async () => {
      const connection = await keptConnection(await serve({ keepAliveTimeoutMs: 50 }));
      connection.send(get(LIST));
      // Node waits a second longer than its Keep-Alive header says.
      standStill(1500);
      expect((await connection.receive()).status).to.equal(200);
      connection.send(get(LIST));
      expect((await connection.closed()).responses.map(({ status }) => status)).to.deep.equal([200]);
    });
  });

  describe('a listener of the events that throws', () => {
    expectNoUncaught();

    const broken = () => {
      throw new Error('the listener is broken');
    };

    it('harms neither requests nor the process', async () => {
      const { url, bugs, edge } = await serve({ events: { requestEnded: broken } });
      const connection = openConnection(url);
      for (const [text, status] of [
        [get(LIST), 200],
        [get(READ), 200],
        [get(`${READ}&x`), 200],
        [get('/nothing'), 404],
        ['garbage\r\n\r\n', 400],
      ] as const) {
        connection.send(text);
        expect((await connection.receive()).status).to.equal(status);
      }
      expect((await connection.closed()).error).to.equal(undefined);
      expect(bugs).to.have.length(5);
      expect(bugs[0]?.stack).to.match(/^Error: the listener is broken\n {4}at /);
      expect(bugs[0]?.requestId).to.match(/^[0-9a-f]{16}-[0-9a-z]+$/);
      expect(await edge.drain(LONG_MS)).to.equal(true);
    });
  });
}
