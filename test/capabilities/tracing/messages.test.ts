import { expect } from 'chai';
import { ENVELOPE } from '../../core/mcp/asked.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { openConnection, requestText } from '../../support/raw-http.ts';
import { headerOf, LOADED, PARENT, SAMPLED, startTraced, TOOLS, UNSAMPLED } from './traced.ts';

const POST = 'POST /mcp';
const URI = 'platform://tools';
const OTHER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

/** A message of 2026-07-28, and the headers that go with it. */
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
    const { collector, rpc, end } = await startTraced(upstream.url);
    expect((await rpc(...current('resources/read', { uri: URI }))).status).to.equal(200);
    await end();
    expect(collector.tree()).to.deep.equal({
      [`1 SERVER ${POST}`]: { '1 SERVER resources/read': { '1 INTERNAL read tools': LOADED } },
    });
    expect(collector.one('resources/read').attributes).to.deep.equal({
      'mcp.method.name': 'resources/read',
      'mcp.protocol.version': '2026-07-28',
      'mcp.resource.uri': URI,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'portico.request.id': collector.one(POST).attributes['portico.request.id'],
      'portico.resource': 'tools',
    });
  });

  it('is that of its _meta, with a link to the HTTP request', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    const [message, headers] = current(
      'tools/call',
      { name: 'list_installed_tools' },
      { traceparent: SAMPLED, tracestate: 'a=1' },
    );
    const outer = `00-${OTHER.traceId}-${OTHER.spanId}-01`;
    expect((await rpc(message, { ...headers, traceparent: outer })).status).to.equal(200);
    await end();
    const http = collector.one(POST);
    expect(http).to.deep.include({ traceId: OTHER.traceId, parentId: OTHER.spanId });
    const call = collector.one('tools/call list_installed_tools');
    expect(call).to.deep.include({ traceId: PARENT.traceId, parentId: PARENT.spanId, links: [http.spanId] });
    expect(call.attributes).to.include({
      'gen_ai.tool.name': 'list_installed_tools',
      'gen_ai.operation.name': 'execute_tool',
    });
    expect(collector.tree(call.spanId)).to.deep.equal({ '1 INTERNAL read tools': LOADED });
    expect(upstream.requests[0]?.headers).to.include({
      traceparent: headerOf(collector.one('GET')),
      tracestate: 'a=1',
    });
  });

  it('ignores a tracestate that is not a text', async () => {
    const { rpc, end } = await startTraced(upstream.url);
    for (const tracestate of [['a=1'], { length: 1 }, 1]) {
      const [message, headers] = current('resources/read', { uri: URI }, { traceparent: SAMPLED, tracestate });
      expect((await rpc(message, { ...headers, 'cache-control': 'no-cache' })).status).to.equal(200);
    }
    await end();
    expect(upstream.requests[0]?.headers).to.include.keys('traceparent').and.not.to.include.keys('tracestate');
  });

  it('is sampled by its own _meta, whether or not the HTTP request is', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    const ask = (meta: string, header: string) => {
      const [message, headers] = current('resources/read', { uri: 'platform://projects' }, { traceparent: meta });
      return rpc(message, { ...headers, traceparent: header });
    };
    await ask(UNSAMPLED, SAMPLED);
    await ask(SAMPLED, UNSAMPLED);
    await end();
    expect(collector.all(POST)).to.have.length(1);
    expect(collector.tree(collector.one(POST).spanId)).to.deep.equal({});
    expect(collector.one('resources/read')).to.deep.include({ parentId: PARENT.spanId, links: [] });
    // What is not kept goes on under the message's trace all the same.
    const [first] = upstream.requests.map(({ headers }) => String(headers['traceparent']));
    expect(first).to.match(new RegExp(`^00-${PARENT.traceId}-[0-9a-f]{16}-00$`));
  });

  it('leaves alone a _meta that holds no trace, or the token', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    for (const traceparent of [1, null, 'none', {}, []]) {
      await rpc(earlier('ping', { _meta: { traceparent } }));
    }
    await rpc(earlier('ping', { _meta: { traceparent: SAMPLED } }), { authorization: `Bearer ${PARENT.traceId}` });
    await end();
    const https = collector.all(POST).map(({ spanId }) => spanId);
    expect(collector.all('ping').map(({ parentId }) => parentId))
      .to.have.members(https)
      .and.to.have.length(6);
    expect(collector.bodies.join()).not.to.contain(PARENT.traceId);
  });

  it('leaves alone a _meta that holds a token of another header', async () => {
    const credential = { kind: 'header', name: 'X-Key', from: 'X-Own-Key' } as const;
    const { collector, rpc, end } = await startTraced(upstream.url, { upstream: { credential } });
    await rpc(earlier('ping', { _meta: { traceparent: SAMPLED } }), { 'x-own-key': PARENT.traceId });
    await end();
    expect(collector.one('ping').parentId).to.equal(collector.one(POST).spanId);
    expect(collector.bodies.join()).not.to.contain(PARENT.traceId);
  });

  it('has a span for each one of a batch, and one load for those that read the same', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    const read = (id: number) => earlier('resources/read', { uri: URI }, id);
    expect((await rpc([earlier('ping'), read(2), read(3)])).status).to.equal(200);
    await end();
    expect(collector.tree()).to.deep.equal({
      [`1 SERVER ${POST}`]: {
        '1 SERVER ping': {},
        '2 SERVER resources/read': { '1 INTERNAL read tools': LOADED },
        '3 SERVER resources/read': {},
      },
    });
    // Of an earlier revision, the message does not say which.
    expect(collector.one('ping').attributes).not.to.have.property('mcp.protocol.version');
  });

  it('reports no error of another message in the same batch', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    await rpc([earlier('resources/read', { uri: 'platform://none' }, 1), earlier('ping', {}, 2)]);
    await end();
    expect(collector.one('resources/read').attributes).to.include({ 'portico.error.code': 'resource_unknown' });
    expect(collector.one('ping').attributes).not.to.have.property('portico.error.code');
  });

  it('reports an error by its code in JSON-RPC and in the table', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    upstream.respond((_request, response) => response.writeHead(404).end());
    await rpc(...current('resources/read', { uri: URI }));
    await rpc(...current('tools/call', { name: 'list_installed_workflows' }));
    await rpc(...current('prompts/list', {}));
    await rpc(earlier('no/such-method'));
    await end();
    const failed = { failed: true };
    expect(collector.one('resources/read')).to.include(failed);
    expect(collector.one('resources/read').attributes).to.include({
      'error.type': '-32603',
      'rpc.response.status_code': '-32603',
      'portico.error.code': 'upstream_refused',
    });
    const call = collector.one('tools/call list_installed_workflows');
    expect(call).to.include(failed);
    expect(call.attributes).to.include({ 'error.type': 'tool_error', 'portico.error.code': 'upstream_refused' });
    expect(call.attributes).not.to.have.property('rpc.response.status_code');
    expect(collector.one('prompts/list').attributes).to.include({ 'error.type': '-32601' });
    expect(collector.one('_OTHER').attributes).to.include({
      ...{ 'mcp.method.name': '_OTHER', 'error.type': '-32601', 'portico.error.code': 'not_found' },
    });
    expect(collector.bodies.join()).not.to.contain('such-method');
  });

  it('ends where the caller leaves', async () => {
    upstream.respond(() => {});
    const { collector, url, end } = await startTraced(upstream.url);
    const { socket, send } = openConnection(url);
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    send(requestText('POST', '/mcp', headers, JSON.stringify(earlier('resources/read', { uri: URI }))));
    await eventually(() => upstream.requests.length === 1);
    socket.destroy();
    await eventually(() => collector.all('resources/read').length === 1);
    await end();
    expect(collector.one('resources/read')).to.include({ failed: false });
    expect(collector.one('resources/read').attributes).to.include({ 'error.type': 'cancelled' });
    expect(collector.one(POST).attributes).to.include({ 'error.type': 'caller_gone' });
  });

  it('has no name and no URI that a caller made up', async () => {
    const { collector, rpc, end } = await startTraced(upstream.url);
    await rpc(...current('resources/read', { uri: 'platform://made-up' }));
    await rpc(...current('tools/call', { name: 'made_up' }));
    await rpc({ ...earlier('ping'), id: 'made-up' });
    await end();
    expect(collector.all('resources/read')).to.have.length(1);
    expect(collector.all('tools/call')).to.have.length(1);
    expect(collector.bodies.join()).not.to.match(/made.up/);
  });

  it('of a subscription ends when that is open, and has none of its reads', async () => {
    const subscriptions = { pollMs: 20 };
    const { collector, rpc } = await startTraced(upstream.url, { subscriptions });
    const notifications = { resourceSubscriptions: ['platform://projects'] };
    await rpc(...current('subscriptions/listen', { notifications }));
    await eventually(() => upstream.requests.length > 5);
    await eventually(() => collector.all(POST).length === 1);
    expect(collector.tree()).to.deep.equal({ [`1 SERVER ${POST}`]: { '1 SERVER subscriptions/listen': {} } });
  });
});
