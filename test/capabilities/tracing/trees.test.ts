import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { startAuthorizationServer } from '../../support/authorization/authorization-server.ts';
import { as } from '../../support/authorization/caller.ts';
import { AUDIENCE } from '../../support/authorization/issuer.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, inTurn, json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { startCollector } from '../../support/process/collector.ts';
import { echo, gatewayAt, givenFor } from '../token-exchange/exchanging.ts';
import { exportTo, headerOf, LOADED, PARENT, READ, SAMPLED, startTraced, TOOLS, UNSAMPLED } from './traced.ts';

describe('the trace', () => {
  let upstream: HttpUpstream;
  const traceparents = () => upstream.requests.map(({ headers }) => headers['traceparent']);

  beforeEach(async () => {
    upstream = await startHttpUpstream(lists(TOOLS));
  });

  describe('of a read', () => {
    it('has the attributes of the conventions at each step', async () => {
      const { collector, read, end } = await startTraced(upstream.url);
      await read('tools');
      await end();
      const { hostname, port } = new URL(upstream.url);
      expect(collector.one(READ).attributes).to.deep.equal({
        'http.request.method': 'GET',
        'http.route': '/mcp/v1/resources/read',
        'url.path': '/mcp/v1/resources/read',
        'url.scheme': 'http',
        'http.response.status_code': 200,
        'portico.request.id': collector.one(READ).attributes['portico.request.id'],
        'portico.outcome': 'ok',
        'portico.resource': 'tools',
        'portico.cache': 'miss',
      });
      expect(collector.one('load tools').attributes).to.deep.equal({
        ...{ 'portico.resource': 'tools', 'portico.pages': 1, 'portico.items': 1, 'portico.items.dropped': 0 },
      });
      expect(collector.one('page tools').attributes).to.deep.equal({
        ...{ 'portico.resource': 'tools', 'portico.upstream': 'tools' },
      });
      expect(collector.one('GET').attributes).to.deep.equal({
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'server.address': hostname,
        'server.port': Number(port),
        'url.full': `${upstream.url}/v1/tools`,
        'portico.upstream': 'tools',
      });
      expect(traceparents()).to.deep.equal([headerOf(collector.one('GET'))]);
      const { resource } = collector.one(READ);
      expect(resource).to.include({ 'service.name': 'portico' });
      expect(resource['service.instance.id']).to.match(/^[0-9a-f-]{36}$/);
    });

    it('has a span for each page, and one for each time its request was sent', async () => {
      const page = (next: string) => json({ tools: [{ id: `a${next}`, name: 'A' }], nextPageToken: next });
      upstream.respond(inTurn(json({}, 503), json({}, 502), page('1'), page('')));
      const { collector, read, end } = await startTraced(upstream.url, { upstream: { retry: { baseDelayMs: 1 } } });
      await read('tools');
      await end();
      expect(collector.tree(collector.one('load tools').spanId)).to.deep.equal({
        '1 INTERNAL page tools': { '1 CLIENT GET': {}, '2 CLIENT GET': {}, '3 CLIENT GET': {} },
        '2 INTERNAL page tools': { '1 CLIENT GET': {} },
      });
      expect(collector.one('load tools').attributes).to.include({ 'portico.pages': 2, 'portico.items': 2 });
      const sent = collector
        .all('GET')
        .map(({ attributes: of }) => [...[of['error.type'], of['http.response.status_code'], of['url.full']]]);
      const url = `${upstream.url}/v1/tools`;
      expect(sent).to.deep.equal([
        ['upstream_failed', 503, url],
        ['upstream_failed', 502, url],
        [undefined, 200, url],
        [undefined, 200, url],
      ]);
      expect(collector.all('page tools').map(({ failed }) => failed)).to.deep.equal([false, false]);
    });

    it('shows an exchange of tokens below the page that it was made for', async () => {
      const server = await startAuthorizationServer();
      upstream.respond(echo);
      const collector = await startCollector();
      exportTo(collector);
      const tracing = { enabled: true, sampleRatio: 1 };
      const { gateway, read } = await gatewayAt(upstream, server.issuer, { settings: { tracing } });
      const token = await server.issue({ resource: AUDIENCE });
      const given = await givenFor(await read('tools', as(token)));
      await gateway.close();
      const page = collector.one('page tools');
      const calls = collector.spans.filter(({ parentId }) => parentId === page.spanId);
      expect(calls.map(({ name, attributes }) => `${name} ${attributes['portico.upstream']}`)).to.deep.equal([
        ...['GET tools.exchange', 'POST tools.exchange', 'GET tools'],
      ]);
      expect(new Set(calls.map(({ traceId }) => traceId)).size).to.equal(1);
      for (const each of [token, given]) expect(collector.bodies.join()).not.to.contain(each);
    });

    it('links a read that joined a load to that load', async () => {
      const log = captureLog();
      let release = () => {};
      upstream.respond((request, response) => {
        release = () => lists(TOOLS)(request, response);
      });
      const { collector, read, end } = await startTraced(upstream.url, {}, { logger: log.logger });
      const reads = [read('tools')];
      await eventually(() => upstream.requests.length === 1);
      reads.push(read('tools'));
      await eventually(() => log.text().includes('flight joined'));
      release();
      await Promise.all(reads);
      await end();
      const load = collector.one('load tools');
      const [began, joined] = collector.all('read tools').toSorted((one) => (one.spanId === load.parentId ? -1 : 1));
      expect(began?.links).to.deep.equal([]);
      expect(joined?.links).to.deep.equal([load.spanId]);
      expect(joined?.attributes).to.include({ 'portico.cache': 'collapsed' });
      expect(joined?.traceId).not.to.equal(load.traceId);
      expect(collector.tree(joined?.spanId)).to.deep.equal({});
    });

    it('shows the load behind a stale list below the read that started it', async () => {
      let clock = 1_800_000_000_000;
      const { collector, read, end } = await startTraced(upstream.url, {}, { now: () => clock });
      await read('tools');
      clock += 61_000;
      await read('tools');
      await eventually(() => collector.all('load tools').length === 2);
      await end();
      const stale = collector.all('read tools').find(({ attributes }) => attributes['portico.cache'] === 'stale');
      expect(collector.tree(stale?.spanId)).to.deep.equal(LOADED);
    });
  });

  describe('of a caller', () => {
    it('continues below its span, and sends our own to the platform', async () => {
      const { collector, read, end } = await startTraced(upstream.url);
      await read('tools', { headers: { traceparent: SAMPLED, tracestate: 'acme=1' } });
      await end();
      const edge = collector.one(READ);
      expect(edge).to.deep.include({ traceId: PARENT.traceId, parentId: PARENT.spanId });
      const sent = collector.one('GET');
      expect(sent.traceId).to.equal(PARENT.traceId);
      expect(traceparents()).to.deep.equal([headerOf(sent)]);
      expect(upstream.requests[0]?.headers['tracestate']).to.equal('acme=1');
      expect(collector.bodies.join()).not.to.contain('acme');
    });

    it('is not sampled if the caller does not sample it, and is propagated all the same', async () => {
      const { collector, read, end } = await startTraced(upstream.url);
      await read('tools', { headers: { traceparent: UNSAMPLED } });
      await end();
      expect(collector.spans).to.deep.equal([]);
      expect(traceparents()).to.have.length(1);
      expect(traceparents()[0]).to.match(new RegExp(`^00-${PARENT.traceId}-(?!${PARENT.spanId})[0-9a-f]{16}-00$`));
    });
  });
});
