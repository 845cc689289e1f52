import { expect } from 'chai';
import { ENVELOPE } from '../../core/mcp/asked.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { headerOf, LOADED, PARENT, SAMPLED, startTraced, TOOLS, UNSAMPLED } from './traced.ts';

const POST = 'POST /mcp';
const URI = 'platform://tools';
const OTHER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

function current(method: string, params: Record<string, unknown>, meta: object = {}) {
  const name = params['uri'] ?? params['name'];
  return [
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...ENVELOPE, ...meta } } },
    {
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      ...(name !== undefined && { 'mcp-name': String(name) }),
    },
  ] as const;
}

const earlier = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params });

describe('the trace of a message', () => {
  let upstream: HttpUpstream;

  beforeEach(async () => {
    upstream = await startHttpUpstream(lists(TOOLS));
  });

  it('is below the HTTP request that contained it', async () => {
    const { collector, post, end } = await startTraced(upstream.url);
    expect((await post(...current('resources/read', { uri: URI }))).status).to.equal(200);
    await end();
    expect(collector.tree()).to.deep.equal({
      [`1 SERVER ${POST}`]: { '1 SERVER resources/read': { '1 INTERNAL read tools': LOADED } },
    });
    expect(collector.one('resources/read').attributes).to.deep.equal({
      'mcp.method.name': 'resources/read',
      'mcp.resource.uri': URI,
      'portico.request.id': collector.one(POST).attributes['portico.request.id'],
      'portico.resource': 'tools',
    });
  });

  it('is that of its _meta, with a link to the HTTP request', async () => {
    const { collector, post, end } = await startTraced(upstream.url);
    const [message, headers] = current(
      'tools/call',
      { name: 'list_installed_tools' },
      { traceparent: SAMPLED, tracestate: 'a=1' },
    );
    const outer = `00-${OTHER.traceId}-${OTHER.spanId}-01`;
    expect((await post(message, { ...headers, traceparent: outer })).status).to.equal(200);
    await end();
    const http = collector.one(POST);
    expect(http).to.deep.include({ traceId: OTHER.traceId, parentId: OTHER.spanId });
    const call = collector.one('tools/call list_installed_tools');
    expect(call).to.deep.include({ traceId: PARENT.traceId, parentId: PARENT.spanId, links: [http.spanId] });
    expect(call.attributes).to.include({ 'gen_ai.tool.name': 'list_installed_tools' });
    expect(collector.tree(call.spanId)).to.deep.equal({ '1 INTERNAL read tools': LOADED });
    expect(upstream.requests[0]?.headers).to.include({
      traceparent: headerOf(collector.one('GET')),
      tracestate: 'a=1',
    });
  });

  it('is sampled by its own _meta, whether or not the HTTP request is', async () => {
    const { collector, post, end } = await startTraced(upstream.url);
    const ask = (meta: string, header: string) => {
      const own = { traceparent: meta, tracestate: ['no text'] };
      const [message, headers] = current('resources/read', { uri: 'platform://projects' }, own);
      return post(message, { ...headers, traceparent: header });
    };
    await ask(UNSAMPLED, SAMPLED);
    await ask(SAMPLED, UNSAMPLED);
    await end();
    expect(collector.all(POST)).to.have.length(1);
    expect(collector.tree(collector.one(POST).spanId)).to.deep.equal({});
    expect(collector.one('resources/read')).to.deep.include({ parentId: PARENT.spanId, links: [] });
    // What is not kept goes on under the message's trace all the same.
    const [first] = upstream.requests.map(({ headers }) => String(headers['traceparent']));
    expect(upstream.requests.map(({ headers }) => headers['tracestate'])).to.deep.equal([undefined, undefined]);
    expect(first).to.match(new RegExp(`^00-${PARENT.traceId}-[0-9a-f]{16}-00$`));
  });

  it('is that of the HTTP request if its _meta holds no trace, or repeats a credential of the caller', async () => {
    const credential = { kind: 'header', name: 'X-Key', from: 'X-Own-Key' } as const;
    const { collector, post, end } = await startTraced(upstream.url, { upstream: { credential } });
    for (const traceparent of [1, 'none', {}]) await post(earlier('ping', { _meta: { traceparent } }));
    const repeating = earlier('ping', { _meta: { traceparent: SAMPLED } });
    await post(repeating, { authorization: `Bearer ${PARENT.traceId}` });
    await post(repeating, { 'x-own-key': PARENT.traceId });
    await end();
    const https = collector.all(POST).map(({ spanId }) => spanId);
    expect(https).to.have.length(5);
    expect(collector.all('ping').map(({ parentId }) => parentId)).to.have.members(https);
    expect(collector.bodies.join()).not.to.contain(PARENT.traceId);
  });

  it('reports an error by its code in JSON-RPC and in the table', async () => {
    const { collector, post, end } = await startTraced(upstream.url);
    upstream.respond((_request, response) => response.writeHead(404).end());
    await post(...current('resources/read', { uri: URI }));
    await post(...current('tools/call', { name: 'list_installed_workflows' }));
    await post(earlier('no/such-method'));
    await post(earlier('ping'));
    await end();
    const errorOf = (name: string) => {
      const { failed, attributes: of } = collector.one(name);
      return [failed, ...['error.type', 'rpc.response.status_code', 'portico.error.code'].map((key) => of[key])];
    };
    expect(['resources/read', 'tools/call list_installed_workflows', '_OTHER', 'ping'].map(errorOf)).to.deep.equal([
      [true, '-32603', '-32603', 'upstream_refused'],
      [true, 'tool_error', undefined, 'upstream_refused'],
      [true, '-32601', '-32601', 'not_found'],
      [false, undefined, undefined, undefined],
    ]);
    expect(collector.one('_OTHER').attributes).to.include({ 'mcp.method.name': '_OTHER' });
    expect(collector.bodies.join()).not.to.contain('such-method');
  });

  it('of a subscription ends when that is open, and has none of its reads', async () => {
    const subscriptions = { pollMs: 20 };
    const { collector, post } = await startTraced(upstream.url, { subscriptions });
    const notifications = { resourceSubscriptions: ['platform://projects'] };
    // A response that nothing refers to is cancelled.
    const response = await post(...current('subscriptions/listen', { notifications }));
    await eventually(() => upstream.requests.length > 5);
    await eventually(() => collector.all(POST).length === 1);
    expect(response.status).to.equal(200);
    expect(collector.tree()).to.deep.equal({ [`1 SERVER ${POST}`]: { '1 SERVER subscriptions/listen': {} } });
  });
});
