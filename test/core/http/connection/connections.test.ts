import { expect } from 'chai';
import { createHeldReads } from '../../../support/catalogue.ts';
import { eventually } from '../../../support/eventually.ts';
import { loadOf, manyTools } from '../../../support/platform/loads.ts';
import { get } from '../../../support/raw-http.ts';
import { CARRIERS } from '../over-tls.ts';
import { expectNoUncaught, LIST, LONG_MS, READ } from '../served.ts';

for (const { over, serve, openConnection, sendTo } of CARRIERS) {
  describe(`a FIN over ${over}`, () => {
    expectNoUncaught();

    it('behind a request gets the response that is ready', async () => {
      const { url, ended } = await serve();
      for (const request of [get(LIST), get(READ), get(`${READ}&x`), get('/nothing')]) {
        const connection = openConnection(url);
        connection.socket.end(request);
        const { responses, error } = await connection.closed();
        expect(responses).to.have.length(1);
        expect(error).to.equal(undefined);
      }
      expect((await ended(4)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok', 'ok', 'not_found']);
    });

    it('completes a response that is being sent', async () => {
      const load = loadOf(manyTools(20_000));
      const { url, ended } = await serve({ read: () => load });
      const connection = openConnection(url);
      connection.socket.end(get(READ));
      const { responses } = await connection.closed();
      expect(responses.map(({ body }) => body.length)).to.deep.equal([load.snapshot.bytes.length]);
      expect((await ended(1))[0]).to.include({ outcome: 'ok' });
    });

    for (const pause of [false, true]) {
      it(`behind a read and garbage ends both${pause ? ', also later' : ''}`, async () => {
        const { read, waiting } = createHeldReads();
        const { url, reads, ended, edge } = await serve({ read });
        const connection = sendTo(url, `${get(READ)}garbage\r\n\r\n`);
        if (pause) await eventually(() => reads.length === 1);
        connection.socket.end();
        expect((await ended(1))[0]).to.include({ outcome: 'caller_gone' });
        expect((await connection.closed()).responses).to.deep.equal([]);
        expect(waiting()).to.equal(0);
        expect(await edge.drain(LONG_MS)).to.equal(true);
        expect(await ended(1)).to.have.length(1);
      });
    }
  });
}
