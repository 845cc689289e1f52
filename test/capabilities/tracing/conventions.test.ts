import { expect } from 'chai';
import { attributesOf, isError, SPANS } from '../../../src/capabilities/tracing/conventions.ts';
import type { SpanAbout, SpanFacts } from '../../../src/core/kernel/trace.ts';

/** Kinds of spans, as OTLP numbers them. */
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];

/** All that a span can tell. */
const FACTS: Required<SpanFacts> = {
  ...{
    method: 'GET',
    route: '/mcp',
    scheme: 'https',
    httpVersion: '1.1',
    status: 200,
    outcome: 'ok',
    requestId: 'r-1',
  },
  ...{
    error: 'upstream_failed',
    code: 'upstream_failed',
    rpc: 'tools/call',
    tool: 'list_installed_tools',
    uri: 'platform://tools',
  },
  ...{
    rpcCode: -32603,
    revision: '2026-07-28',
    edge: 'http',
    resource: 'tools',
    cache: 'hit',
    shared: 'miss',
    pages: 2,
    items: 3,
  },
  ...{ dropped: 1, upstream: 'platform', host: 'platform.example', port: 443, url: 'https://platform.example/v1' },
  resends: 1,
};

/** Attributes that there are. */
function known(facts: SpanFacts): unknown {
  return JSON.parse(JSON.stringify(attributesOf(facts)));
}

describe('the conventions', () => {
  it('of HTTP and MCP have these names', () => {
    expect(known(FACTS)).to.deep.equal({
      'http.request.method': 'GET',
      'http.route': '/mcp',
      'url.path': '/mcp',
      'url.scheme': 'https',
      'url.full': 'https://platform.example/v1',
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      'http.request.resend_count': 1,
      'server.address': 'platform.example',
      'server.port': 443,
      'error.type': 'upstream_failed',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2026-07-28',
      'mcp.resource.uri': 'platform://tools',
      'gen_ai.tool.name': 'list_installed_tools',
      'gen_ai.operation.name': 'execute_tool',
      'rpc.response.status_code': '-32603',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'portico.request.id': 'r-1',
      'portico.outcome': 'ok',
      'portico.error.code': 'upstream_failed',
      'portico.resource': 'tools',
      'portico.cache': 'hit',
      'portico.shared': 'miss',
      'portico.upstream': 'platform',
      'portico.pages': 2,
      'portico.items': 3,
      'portico.items.dropped': 1,
    });
    expect(known({ edge: 'stdio', resends: 0 })).to.deep.equal({ 'network.transport': 'pipe' });
    expect(known({ method: 'BREW', rpc: 'other', route: 'unmatched' })).to.deep.equal({
      ...{ 'http.request.method': '_OTHER', 'mcp.method.name': '_OTHER' },
    });
  });

  it('name spans by what there are few of', () => {
    const names: Record<SpanAbout, readonly [name: string, without: string, kind: number]> = {
      request: ['GET /mcp', 'HTTP', SERVER],
      operation: ['tools/call list_installed_tools', '', SERVER],
      read: ['read tools', 'read', INTERNAL],
      refresh: ['refresh tools', 'refresh', INTERNAL],
      load: ['load tools', 'load', INTERNAL],
      look: ['look tools', 'look', INTERNAL],
      page: ['page tools', 'page', INTERNAL],
      verify: ['verify', 'verify', INTERNAL],
      call: ['GET', '', CLIENT],
    };
    for (const [about, [name, without, kind]] of Object.entries(names) as [SpanAbout, [string, string, number]][]) {
      expect([SPANS[about].name(FACTS), SPANS[about].name({}), SPANS[about].kind], about).to.deep.equal([
        name,
        without,
        kind,
      ]);
    }
    expect(SPANS.request.name({ method: 'BREW', route: 'unmatched' })).to.equal('HTTP');
  });

  it('have a span fail with an error, except for one whose caller had left', () => {
    const failed = [undefined, 'cancelled', 'caller_gone', 'upstream_failed'].map((error) => isError({ error }));
    expect(failed).to.deep.equal([false, false, false, true]);
  });
});
