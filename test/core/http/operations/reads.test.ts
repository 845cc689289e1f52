import { expect } from 'chai';
import { exchange, get } from '../../../support/raw-http.ts';
import { serveReading } from '../over-tls.ts';
import { expectNoUncaught, READS, serve } from '../served.ts';

describe('a read', () => {
  expectNoUncaught();

  it('reads the resource of the uri as this caller', async () => {
    const { url, reads } = await serve();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const fields = { 'X-Request-Id': 'mine', traceparent, tracestate: 'v=1' };
    await exchange(url, get(`${READS}?uri=platform://projects`, fields));
    const other = get(`${READS}?a=b&uri=platform%3A%2F%2Fworkflows&c=d`, { Authorization: 'bearer other' });
    await exchange(url, other);
    const [first, second] = reads.map(({ name, caller, noCache }) => ({
      name,
      noCache,
      ...caller,
      credential: caller.credential.reveal(),
    }));
    expect(first).to.include({ name: 'projects', credential: 'token-of-the-test', requestId: 'mine', noCache: false });
    expect(first?.trace?.tracestate).to.equal('v=1');
    expect(first?.trace?.traceparent)
      .to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-.{16}-01$/)
      .and.not.equal(traceparent);
    expect(second).to.include({ name: 'workflows', credential: 'other', trace: undefined });
    expect(first?.credentialKey).not.to.equal(second?.credentialKey);
    expect(first?.cacheScope).not.to.equal(second?.cacheScope);
  });

  for (const [how, leave] of Object.entries({ reset: 'resetAndDestroy', close: 'destroy', FIN: 'end' } as const)) {
    it(`is aborted by a ${how} of its caller, and records the time that it took`, async () => {
      const { connection, reads, ended, bugs } = await serveReading();
      connection.socket[leave]();
      const [record] = await ended(1);
      expect(reads[0]?.signal.aborted).to.equal(true);
      expect(record)
        .to.include({ outcome: 'caller_gone', resource: 'tools', bytes: 0 })
        .and.not.have.property('status');
      expect(record?.['upstreamMs']).to.be.at.least(0);
      expect((await connection.closed()).responses).to.deep.equal([]);
      expect(await ended(1)).to.have.length(1);
      expect(bugs).to.deep.equal([]);
    });
  }
});

describe('the uri of a read', () => {
  for (const [code, queries] of [
    ['uri_missing', ['', '?', '?uri', '?URI=platform://tools']],
    ['invalid_request', ['?uri=&uri=', '?uri=platform://tools&x=1&uri=platform://tools']],
    ['resource_unknown', ['?uri=platform://Tools', '?uri=PLATFORM://tools', '?uri=__proto__', '?uri=tools']],
    ['resource_unknown', ['?uri=platform://tools/', '?uri=platform://tools%00', '?uri=%zz']],
  ] as const) {
    it(`is ${code} in the queries ${queries.map((query) => JSON.stringify(query)).join(', ')}`, async () => {
      const { url, reads } = await serve();
      for (const query of queries) expect((await exchange(url, get(READS + query))).json(), query).to.include({ code });
      expect(reads).to.deep.equal([]);
    });
  }
});
