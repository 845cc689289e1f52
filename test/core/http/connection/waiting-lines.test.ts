import { expect } from 'chai';
import { aWhile } from '../../../support/a-while.ts';
import { createPatience } from '../../../support/catalogue.ts';
import { eventually } from '../../../support/eventually.ts';
import { loadOf, manyTools } from '../../../support/platform/loads.ts';
import { get, type RawConnection, requestText } from '../../../support/raw-http.ts';
import { CARRIERS } from '../over-tls.ts';
import { expectNoUncaught, LIST, LONG_MS, post, READ, type ServeOptions } from '../served.ts';

for (const { over, serve, serveRpc, openConnection, exchange } of CARRIERS) {
  /** Long enough for bytes on loopback to arrive. What must not happen meanwhile would have time to. */
  const A_WHILE_MS = 50;

  const numbered = (number: number) => get(READ, { 'X-Request-Id': `number-${number}` });

  async function receive(connection: RawConnection, count: number) {
    const responses = [];
    while (responses.length < count) responses.push(await connection.receive());
    return responses;
  }

  const statusOf = ({ status }: { readonly status: number }) => status;

  /** A connection with one read in flight, and these requests in line behind it. */
  async function lineUp(behind: string, options: ServeOptions = {}) {
    const { read, release, waiting } = createPatience();
    const served = await serveRpc(({ body }) => ({ status: 200, headers: [], body }), {
      read,
      maxPipelined: 1,
      ...options,
    });
    const connection = openConnection(served.url);
    connection.send(get(READ) + behind);
    await eventually(() => served.reads.length === 1);
    await aWhile(A_WHILE_MS);
    expect(served.reads).to.have.length(1);
    return { ...served, connection, release, waiting };
  }

  describe(`exchanges of one connection over ${over}`, () => {
    expectNoUncaught();

    it('are worked on up to maxPipelined at once, and answered in order', async () => {
      const { read, release } = createPatience();
      const { url, reads, ended } = await serve({ read, maxPipelined: 2 });
      const connection = openConnection(url);
      connection.send([0, 1, 2, 3, 4].map(numbered).join(''));
      for (const done of [0, 1, 2, 3]) {
        await eventually(() => reads.length === Math.min(done + 2, 5));
        await aWhile(A_WHILE_MS);
        expect(reads).to.have.length(Math.min(done + 2, 5));
        release();
      }
      release();
      const responses = await receive(connection, 5);
      expect(responses.map(({ headers }) => headers.get('x-request-id'))).to.deep.equal(
        [0, 1, 2, 3, 4].map((number) => `number-${number}`),
      );
      expect((await ended(5)).map(({ outcome }) => outcome)).to.deep.equal(Array(5).fill('ok'));
    });

    it('have it not read from while they wait, and read from again afterwards', async () => {
      const { read, release } = createPatience();
      let patient = true;
      const { url, reads } = await serve({ read: (one) => (patient ? read(one) : loadOf()) });
      const connection = openConnection(url);
      const request = get(READ, { Padding: 'x'.repeat(15_000) });
      // More than the buffers of the system hold.
      const count = Math.ceil(24_000_000 / request.length);
      connection.send(request.repeat(count));
      await eventually(() => reads.length === 16);
      await aWhile(10 * A_WHILE_MS);
      expect(connection.socket.writableLength).to.be.above(0);
      expect(reads).to.have.length(16);
      patient = false;
      for (let index = 0; index < 16; index += 1) release();
      expect((await receive(connection, count)).every(({ status }) => status === 200)).to.equal(true);
    });

    it('may be of any kind in line', async () => {
      const load = loadOf(manyTools());
      const { etag } = load.snapshot;
      const { connection, release, ended } = await lineUp(
        get(READ, { 'If-None-Match': etag }) +
          get('/nothing') +
          get(LIST) +
          post('{}') +
          post('not JSON', { 'Content-Type': 'text/plain' }) +
          requestText('DELETE', LIST) +
          get('/livez') +
          requestText('HEAD', LIST, { Connection: 'close' }),
      );
      release(load);
      expect((await connection.receive()).status).to.equal(200);
      release(load);
      const statuses = (await receive(connection, 7)).map(statusOf);
      expect(statuses).to.deep.equal([304, 404, 200, 200, 415, 405, 200]);
      const { rest, error } = await connection.closed();
      expect(rest.toString()).to.match(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)+\r\n$/);
      expect(error).to.equal(undefined);
      expect((await ended(9)).map(({ outcome }) => outcome)).to.deep.equal([
        'ok',
        'not_modified',
        'not_found',
        'ok',
        'ok',
        'unsupported_media_type',
        'method_not_allowed',
        'ok',
        'ok',
      ]);
    });

    it('end with their connection', async () => {
      const { connection, release, ended, reads, edge } = await lineUp(get(READ) + get(LIST) + get(READ));
      connection.reset();
      // Nobody reads from it now: that it is gone shows with the first response.
      release();
      release();
      const outcomes = (await ended(4)).map(({ outcome }) => outcome);
      expect(new Set(outcomes.slice(1))).to.deep.equal(new Set(['caller_gone']));
      expect(reads.length).to.be.below(4);
      expect(await edge.drain(LONG_MS)).to.equal(true);
    });

    if (over === 'TCP') {
      it('are answered in front of a FIN as far as they are at hand when it is seen', async () => {
        const { connection, release, ended, reads, edge } = await lineUp(get(LIST) + get(READ) + get(READ));
        connection.socket.end();
        release();
        await eventually(() => reads.length === 2);
        release();
        const { responses } = await connection.closed();
        expect(responses.map(statusOf)).to.deep.equal([200, 200, 200]);
        expect((await ended(4)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok', 'ok', 'caller_gone']);
        expect(reads.at(-1)?.signal.aborted).to.equal(true);
        expect(await edge.drain(LONG_MS)).to.equal(true);
      });
    } else {
      it('end with a FIN, which is seen although nothing more is parsed', async () => {
        const { connection, ended, edge } = await lineUp(get(LIST) + get(READ));
        connection.socket.end();
        expect((await ended(3)).map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill('caller_gone'));
        expect((await connection.closed()).responses).to.deep.equal([]);
        expect(await edge.drain(LONG_MS)).to.equal(true);
      });
    }

    it('are gone behind one that asks for the end of the connection', async () => {
      const { read, release } = createPatience();
      const { url, reads, ended, edge } = await serve({ read, maxPipelined: 1 });
      const connection = openConnection(url);
      connection.send(get(READ, { Connection: 'close' }) + get(READ) + get(LIST));
      await eventually(() => reads.length === 1);
      release();
      expect((await connection.closed()).responses.map(statusOf)).to.deep.equal([200]);
      expect((await ended(1))[0]).to.include({ outcome: 'ok' });
      expect(await edge.drain(LONG_MS)).to.equal(true);
      expect(reads.length).to.be.below(3);
    });

    it('are told of a drain once it is their turn', async () => {
      const { connection, release, ended, edge } = await lineUp(get(READ) + get(LIST));
      const drained = edge.drain(LONG_MS);
      await aWhile(A_WHILE_MS);
      release();
      const { responses, error } = await connection.closed();
      expect(responses.map(statusOf)).to.deep.equal([200, 503, 503]);
      expect(responses.map(({ headers }) => headers.get('connection'))).to.deep.equal([
        'keep-alive',
        'keep-alive',
        'close',
      ]);
      expect(error).to.equal(undefined);
      expect(await drained).to.equal(true);
      expect((await ended(3)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'draining', 'draining']);
    });

    it('are cut with what outlasts the grace time', async () => {
      const { connection, ended, edge, waiting } = await lineUp(get(READ) + get(LIST));
      expect(await edge.drain(50)).to.equal(false);
      expect((await connection.closed()).responses).to.deep.equal([]);
      expect((await ended(3)).map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill('draining'));
      expect(waiting()).to.equal(0);
    });

    it('may be a post whose body comes once it is its turn, or later', async () => {
      for (const first of ['{"a"', '']) {
        const { connection, release } = await lineUp(post(first, { 'Content-Length': '7' }));
        release();
        expect((await connection.receive()).status).to.equal(200);
        connection.send('{"a":1}'.slice(first.length) + get(LIST));
        const responses = await receive(connection, 2);
        expect(responses.map(statusOf)).to.deep.equal([200, 200]);
        expect(responses[0]?.body.toString()).to.equal('{"a":1}');
      }
    });

    it('may be posts with bodies, in pieces of any size', async () => {
      const bodies = Array.from({ length: 100 }, (_, index) => `{"n":${'9'.repeat(index)}1}`);
      const { connection, release } = await lineUp(bodies.map((body) => post(body)).join(''));
      release();
      const [, ...responses] = await receive(connection, 101);
      expect(responses.map(({ body }) => body.toString())).to.deep.equal(bodies);
    });
  });

  // These hold the time of headers, so short that a handshake need not fit in it.
  if (over === 'TCP') {
    describe('a request that waits to be read', () => {
      expectNoUncaught();

      const TIMEOUTS = { headersTimeoutMs: 100, requestTimeoutMs: 150 };
      /** Both have passed, and have been looked at. */
      const TOO_LATE_MS = 400;
      /** Longer than it is waited for once it may arrive. */
      const FORGOTTEN_MS = 1200;

      it('is not too late for that', async () => {
        const [head, rest] = [get(LIST).slice(0, 20), get(LIST).slice(20)];
        const { connection, release } = await lineUp(get(LIST) + head, TIMEOUTS);
        await aWhile(TOO_LATE_MS);
        connection.send(rest);
        release();
        expect((await receive(connection, 3)).map(statusOf)).to.deep.equal([200, 200, 200]);
        // It is forgotten then: the connection is kept.
        await aWhile(FORGOTTEN_MS);
        connection.send(get(LIST));
        expect((await connection.receive()).status).to.equal(200);
      });

      it('is not too late with its body', async () => {
        const { connection, release } = await lineUp(post('', { 'Content-Length': '2' }), TIMEOUTS);
        await aWhile(TOO_LATE_MS);
        connection.send('{}');
        release();
        expect((await receive(connection, 2)).map(statusOf)).to.deep.equal([200, 200]);
        await aWhile(FORGOTTEN_MS);
        connection.send(get(LIST));
        expect((await connection.receive()).status).to.equal(200);
      });

      it('is too late where it does not arrive soon after', async () => {
        for (const late of [get(LIST).slice(0, 20), post('', { 'Content-Length': '2' })]) {
          const { connection, release } = await lineUp(get(LIST) + late, TIMEOUTS);
          await aWhile(TOO_LATE_MS);
          release();
          expect((await receive(connection, 3)).map(statusOf)).to.deep.equal([200, 200, 408]);
          await connection.closed();
        }
      });
    });
  }

  describe(`exchanges that wait in all lines together over ${over}`, () => {
    expectNoUncaught();

    it('are bounded: a connection that sends more is cut, and no other', async () => {
      const { url, connection, release, ended, bounds, reads } = await lineUp(get(READ) + get(READ), {
        maxPipelinedWaiting: 3,
      });
      const greedy = openConnection(url);
      greedy.send(get(READ).repeat(10));
      expect((await greedy.closed()).responses).to.deep.equal([]);
      const cut = await ended(3);
      expect(cut.map(({ outcome }) => outcome)).to.deep.equal(['overloaded', 'overloaded', 'overloaded']);
      expect(bounds).to.deep.equal(['http.maxPipelinedWaiting']);
      // What it had in line makes room again.
      const modest = openConnection(url);
      modest.send(get(LIST));
      expect((await modest.receive()).status).to.equal(200);
      modest.send(get(READ) + get(LIST));
      await eventually(() => reads.length === 3);
      for (let count = 0; count < 4; count += 1) {
        await aWhile(A_WHILE_MS);
        release();
      }
      expect((await receive(connection, 3)).map(statusOf)).to.deep.equal([200, 200, 200]);
      expect((await receive(modest, 2)).map(statusOf)).to.deep.equal([200, 200]);
      // So does what has had its turn.
      connection.send(get(READ) + get(LIST).repeat(3));
      await eventually(() => reads.length > 4);
      await aWhile(A_WHILE_MS);
      release();
      expect((await receive(connection, 4)).map(statusOf)).to.deep.equal([200, 200, 200, 200]);
    });
  });

  describe(`responses that a connection leaves unread over ${over}`, () => {
    expectNoUncaught();

    const load = loadOf(manyTools(100_000));

    it('keep its further requests waiting until they are read', async () => {
      const { url, reads } = await serve({ read: () => load });
      const connection = openConnection(url);
      connection.socket.pause();
      for (let count = 0; count < 5; count += 1) {
        connection.send(get(READ));
        await aWhile(A_WHILE_MS);
      }
      expect(reads.length).to.be.within(1, 2);
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      connection.socket.resume();
      const responses = await receive(connection, 5);
      expect(responses.map(({ body }) => body.length)).to.deep.equal(Array(5).fill(load.snapshot.bytes.length));
    });

    it('have those cut that read nothing for longest, once they are too many', async () => {
      const maxUnsentBytes = 4 * load.snapshot.bytes.length;
      const { url, ended, bounds, reads } = await serve({ read: () => load, maxUnsentBytes });
      const idle = Array.from({ length: 8 }, () => openConnection(url));
      for (const [before, { socket }] of idle.entries()) {
        socket.pause().write(get(READ));
        await eventually(() => reads.length > before);
        await aWhile(A_WHILE_MS);
      }
      const cut = await ended(4);
      expect(cut.map(({ outcome, bytes }) => [outcome, bytes])).to.deep.equal(Array(4).fill(['response_unread', 0]));
      expect(bounds).to.deep.equal(Array(4).fill('http.maxUnsentBytes'));
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      // The first ones; the others are still given theirs.
      const statuses = idle.slice(-3).map(async (connection) => {
        connection.socket.resume();
        return (await connection.receive()).status;
      });
      expect(await Promise.all(statuses)).to.deep.equal([200, 200, 200]);
    });

    it('cut nobody below the bound, however slowly they are read', async () => {
      const small = loadOf(manyTools(40_000));
      const { url, ended, bounds } = await serve({ read: () => small, maxUnsentBytes: 40_000_000 });
      const connection = openConnection(url);
      connection.send(get(READ).repeat(4));
      const slowly = setInterval(() => {
        connection.socket.pause();
        setTimeout(() => connection.socket.resume(), 3).unref();
      }, 5);
      try {
        expect((await receive(connection, 4)).map(statusOf)).to.deep.equal([200, 200, 200, 200]);
      } finally {
        clearInterval(slowly);
      }
      expect((await ended(4)).map(({ outcome }) => outcome)).to.deep.equal(Array(4).fill('ok'));
      expect(bounds).to.deep.equal([]);
    });
  });
}
