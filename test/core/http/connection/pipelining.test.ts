import { expect } from 'chai';
import { aWhile } from '../../../support/a-while.ts';
import { eventually } from '../../../support/eventually.ts';
import { loadOf, manyTools } from '../../../support/platform/loads.ts';
import { get, type RawConnection } from '../../../support/raw-http.ts';
import { CARRIERS } from '../over-tls.ts';
import { expectNoUncaught, LIST, READ, type ServeOptions } from '../served.ts';

const load = loadOf(manyTools(100_000));

for (const { over, serve, serveReading, openConnection, sendTo, exchange } of CARRIERS) {
  /** Long enough for bytes to arrive on loopback. */
  const A_WHILE_MS = 50;

  async function receive(connection: RawConnection, count: number) {
    const responses = [];
    while (responses.length < count) responses.push(await connection.receive());
    return responses;
  }

  const statusOf = ({ status }: { readonly status: number }) => status;

  /** A connection with one read in flight, and these requests behind it. */
  async function pipeline(behind: string, options: ServeOptions = {}) {
    const served = await serveReading(behind, options);
    await aWhile(A_WHILE_MS);
    expect(served.reads).to.have.length(1);
    return served;
  }

  describe(`pipelined requests over ${over}`, () => {
    expectNoUncaught();

    it('are answered one after the other', async () => {
      const { connection, release, reads, ended } = await pipeline(get('/nothing') + get(READ) + get(READ));
      for (const next of [2, 3]) {
        release(loadOf([{ id: `${next - 1}` }]));
        await eventually(() => reads.length === next);
        await aWhile(A_WHILE_MS);
        expect(reads).to.have.length(next);
      }
      release(loadOf([{ id: '3' }]));
      const responses = await receive(connection, 4);
      expect(responses.map(statusOf)).to.deep.equal([200, 404, 200, 200]);
      const bodies = responses.filter(({ status }) => status === 200).map(({ body }) => body.toString());
      expect(bodies).to.deep.equal(['[{"id":"1"}]', '[{"id":"2"}]', '[{"id":"3"}]']);
      expect((await ended(4)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'not_found', 'ok', 'ok']);
    });

    it('are bounded over all connections: one that sends more is closed, and no other', async () => {
      const { url, connection, release, ended, bounds, reads } = await pipeline(get(READ) + get(READ), {
        maxPipelinedWaiting: 3,
      });
      const greedy = sendTo(url, get(READ).repeat(10));
      expect((await greedy.closed()).responses).to.deep.equal([]);
      expect((await ended(1)).map(({ outcome }) => outcome)).to.deep.equal(['overloaded']);
      expect(bounds).to.deep.equal(['http.maxPipelinedWaiting']);
      // The slots of the closed connection are free again.
      const modest = sendTo(url, get(LIST));
      expect((await modest.receive()).status).to.equal(200);
      modest.send(get(READ) + get(LIST));
      await eventually(() => reads.length === 3);
      for (let count = 0; count < 4; count += 1) {
        await aWhile(A_WHILE_MS);
        release();
      }
      expect((await receive(connection, 3)).map(statusOf)).to.deep.equal([200, 200, 200]);
      expect((await receive(modest, 2)).map(statusOf)).to.deep.equal([200, 200]);
      // So are those of requests that were answered.
      connection.send(get(READ) + get(LIST).repeat(3));
      await eventually(() => reads.length > 4);
      await aWhile(A_WHILE_MS);
      release();
      expect((await receive(connection, 4)).map(statusOf)).to.deep.equal([200, 200, 200, 200]);
    });
  });

  describe(`responses that a connection leaves unread over ${over}`, () => {
    expectNoUncaught();

    it('keep its further requests waiting until they are read', async () => {
      const { url, reads } = await serve({ read: () => load });
      const connection = openConnection(url);
      connection.socket.pause();
      for (let count = 0; count < 3; count += 1) {
        connection.send(get(READ));
        await aWhile(A_WHILE_MS);
      }
      expect(reads.length).to.be.within(1, 2);
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      connection.socket.resume();
      const responses = await receive(connection, 3);
      expect(responses.map(({ body }) => body.length)).to.deep.equal(Array(3).fill(load.snapshot.bytes.length));
    });

    it('close the connections of the oldest, once they are too many', async () => {
      const maxUnsentBytes = 4 * load.snapshot.bytes.length;
      const { url, ended, bounds, reads } = await serve({ read: () => load, maxUnsentBytes });
      const idle = Array.from({ length: 8 }, () => openConnection(url));
      for (const [before, { socket }] of idle.entries()) {
        socket.pause().write(get(READ));
        await eventually(() => reads.length > before);
        await aWhile(A_WHILE_MS);
      }
      const aborted = await ended(4);
      for (const record of aborted) expect(record).to.include({ outcome: 'response_unread', bytes: 0 });
      expect(bounds).to.deep.equal(Array(4).fill('http.maxUnsentBytes'));
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      // Those were the first ones: the others still get their responses.
      const statuses = idle.slice(-3).map(async (connection) => {
        connection.socket.resume();
        return (await connection.receive()).status;
      });
      expect(await Promise.all(statuses)).to.deep.equal([200, 200, 200]);
    });
  });
}
