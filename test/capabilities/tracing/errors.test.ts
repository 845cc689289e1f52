import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { READ, startTraced } from './traced.ts';

describe('a span', () => {
  let upstream: HttpUpstream;

  beforeEach(async () => {
    upstream = await startHttpUpstream(json({}, 500));
  });

  const errorsOf = ({ collector }: Awaited<ReturnType<typeof startTraced>>, names: readonly string[]) =>
    names.map((name) => [name, collector.one(name).failed, collector.one(name).attributes['error.type']]);

  it('fails with the code of the table, all the way up, where the platform fails', async () => {
    const traced = await startTraced(upstream.url);
    expect((await traced.read('tools')).status).to.equal(502);
    await traced.end();
    expect(errorsOf(traced, [READ, 'read tools', 'load tools', 'page tools', 'GET'])).to.deep.equal(
      [READ, 'read tools', 'load tools', 'page tools', 'GET'].map((name) => [name, true, 'upstream_failed']),
    );
    expect(traced.collector.one(READ).attributes).to.include({
      ...{ 'http.response.status_code': 502, 'portico.outcome': 'upstream_failed' },
      'portico.error.code': 'upstream_failed',
    });
    expect(traced.collector.one('GET').attributes).to.include({ 'http.response.status_code': 500 });
  });

  it('reports that its caller left, and that the rest was cancelled', async () => {
    upstream.respond(() => {});
    const { collector, read, end } = await startTraced(upstream.url);
    const leaving = new AbortController();
    const left = read('tools', { signal: leaving.signal }).catch(() => {});
    await eventually(() => upstream.requests.length === 1);
    leaving.abort();
    await left;
    await eventually(() => collector.all(READ).length === 1);
    await end();
    expect(collector.one(READ)).to.include({ failed: false });
    expect(collector.one(READ).attributes).to.include({
      'portico.outcome': 'caller_gone',
      'error.type': 'caller_gone',
    });
    for (const name of ['read tools', 'load tools', 'page tools', 'GET']) {
      expect(collector.one(name).attributes['error.type'], name).to.equal('cancelled');
      expect(collector.one(name).failed, name).to.equal(false);
    }
  });
});
