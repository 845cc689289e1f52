import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import type { CatalogueRead } from '../../support/catalogue.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { URIS } from '../../support/resources.ts';
import { asked, CLIENT, cachedFor, ENVELOPE, loadOf, NO_HEADERS, optionsOf, provenanceOf } from './asked.ts';

/** Capabilities of an extension, as deep as that. */
function nested(depth: number): object {
  let inner: object = {};
  for (let level = 0; level < depth; level += 1) inner = { a: inner };
  return { experimental: { a: inner } };
}
const EARLIER = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

describe('MCP before 2026-07-28', () => {
  for (const version of EARLIER) {
    it(`is agreed on as ${version}`, async () => {
      const { status, json } = await asked().earlier('initialize', { ...CLIENT, protocolVersion: version });
      expect(status).to.equal(200);
      expect(json.result.protocolVersion).to.equal(version);
      expect(json.result.serverInfo).to.deep.equal({ name: 'portico', title: 'Portico', version: '1.2.3' });
      expect(json.result.capabilities).to.deep.equal({ resources: {}, tools: {} });
    });
  }

  it('offers its latest revision to a client that asks for an unknown one', async () => {
    const { json } = await asked().earlier('initialize', { ...CLIENT, protocolVersion: '2031-01-01' });
    expect(json.result.protocolVersion).to.equal('2025-11-25');
  });

  it('answers with JSON, without a stream or a session', async () => {
    const { headers } = await asked().earlier('ping');
    expect(headers).to.deep.equal({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  it('reads a resource byte for byte, with nothing of 2026-07-28', async () => {
    const load = loadOf([toolItem('ä"\\\u2028')], cachedFor(5000));
    const { json } = await asked({ read: () => load }).earlier('resources/read', { uri: URIS[2] });
    expect(json.result).to.deep.equal({
      contents: [{ uri: URIS[2], mimeType: 'application/json', text: load.snapshot.bytes.toString() }],
      _meta: provenanceOf(load),
    });
  });

  it('answers -32002 for an unknown resource, with the known URIs', async () => {
    const { status, json, record } = await asked().earlier('resources/read', { uri: 'platform://nothing' });
    expect(status).to.equal(200);
    expect(json.error).to.deep.equal({
      code: -32002,
      message: `No resource has this uri. There are: ${URIS.join(', ')}.`,
      data: { code: 'resource_unknown', requestId: 'request-of-the-test', uri: 'platform://nothing' },
    });
    expect(record.error?.code).to.equal('resource_unknown');
  });

  it('takes notifications and answers with 202 and nothing', async () => {
    const { raw } = asked();
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const { status, text, headers } = await raw(JSON.stringify(message));
      expect({ status, text, headers }).to.deep.equal({ status: 202, text: '', headers: {} });
    }
  });

  it('does not know the methods of 2026-07-28', async () => {
    for (const method of ['server/discover', 'subscriptions/listen', 'prompts/list', 'nothing']) {
      const { status, json } = await asked().earlier(method);
      expect(status).to.equal(200);
      expect(json.error).to.deep.include({ code: -32601 });
      expect(json.error.data.code).to.equal('not_found');
    }
  });

  it('rejects an unsupported revision, with the supported ones', async () => {
    const { status, json } = await asked().earlier(
      'ping',
      {},
      { headers: { ...NO_HEADERS, protocolVersion: '2025-01-01' } },
    );
    expect(status).to.equal(400);
    expect(json).to.deep.include({ id: 1 });
    expect(json.error.code).to.equal(-32022);
    expect(json.error.message).to.contain('2025-11-25, 2025-06-18, 2025-03-26');
    expect(json.error.data.code).to.equal('version_unsupported');
  });

  it('says what initialize lacks', async () => {
    for (const params of [
      undefined,
      {},
      { ...CLIENT, protocolVersion: 1 },
      { ...CLIENT, clientInfo: { name: 'test' } },
    ]) {
      const { json } = await asked().earlier('initialize', params);
      expect(json.error).to.deep.include({ code: -32602 });
      expect(json.error.data.code).to.equal('invalid_params');
    }
  });

  it('is agreed on, whatever earlier revision a header names', async () => {
    for (const protocolVersion of ['1999-01-01', '2025-06-19', '']) {
      const { status, json } = await asked().earlier(
        'initialize',
        { ...CLIENT, protocolVersion: '2025-06-18' },
        { headers: { ...NO_HEADERS, protocolVersion } },
      );
      expect(status).to.equal(200);
      expect(json.result.protocolVersion).to.equal('2025-06-18');
    }
  });

  it('is not agreed on under a header that names a revision without initialize', async () => {
    const headers = { ...NO_HEADERS, protocolVersion: '2026-07-28' };
    const { status, json } = await asked().earlier(
      'initialize',
      { ...CLIENT, protocolVersion: '2025-06-18' },
      { headers },
    );
    expect({ status, code: json.error.code }).to.deep.equal({ status: 400, code: -32020 });
  });
});

describe('a batch', () => {
  const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const send = (batch: readonly object[], version?: string) =>
    asked().raw(JSON.stringify(batch), {
      headers: { ...NO_HEADERS, protocolVersion: version },
    });

  it('is answered as one in 2025-03-26, and where no revision is named', async () => {
    for (const version of [undefined, '2025-03-26']) {
      const { status, json } = await send([ping(1), { jsonrpc: '2.0', method: 'notifications/x' }, ping(2)], version);
      expect(status).to.equal(200);
      expect(json.map(({ id }: { id: number }) => id)).to.have.members([1, 2]);
    }
  });

  it('of one is still answered as one', async () => {
    expect((await send([ping(1)])).json)
      .to.be.an('array')
      .with.length(1);
  });

  it('has a response for each request, also when ids repeat', async () => {
    expect((await send([ping(1), ping(1)])).json).to.have.length(2);
  });

  it('is answered even when it cancels its own request', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await send([ping(1), cancel])).json).to.have.length(1);
  });

  it('of notifications alone is 202', async () => {
    expect((await send([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status).to.equal(202);
  });

  for (const [what, batch, version] of [
    ['in a later revision', [ping(1)], '2025-06-18'],
    ['in a later revision still', [ping(1)], '2025-11-25'],
    ['that is empty', [], undefined],
    ['that holds initialize', [{ ...ping(1), method: 'initialize' }], undefined],
    ['that holds what is no message', [ping(1), { a: 1 }], undefined],
    ['of too many', Array.from({ length: 101 }, (_, id) => ping(id)), undefined],
    ['that has envelopes', [{ ...ping(1), params: { _meta: ENVELOPE } }], undefined],
  ] as const) {
    it(`is refused ${what}`, async () => {
      const { status, json } = await send(batch, version);
      expect(status).to.equal(400);
      expect(json).to.deep.include({ jsonrpc: '2.0', id: null });
      expect(json.error.code).to.equal(-32600);
      expect(json.error.data.code).to.equal('invalid_rpc');
    });
  }
});

describe('MCP from 2026-07-28 on', () => {
  it('reports what it offers', async () => {
    const { status, json } = await asked().current('server/discover');
    expect(status).to.equal(200);
    expect(json.result.supportedVersions).to.deep.equal(['2026-07-28']);
    expect(json.result.capabilities).to.deep.equal({ resources: {}, tools: {} });
    expect(json.result.resultType).to.equal('complete');
  });

  it('lists three resources, with a name for programs and a title for people', async () => {
    const { json } = await asked().current('resources/list');
    expect(json.result).to.include({ resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'private' });
    expect(json.result.resources.map(({ uri }: { uri: string }) => uri)).to.deep.equal(URIS);
    expect(json.result.resources[0]).to.deep.equal({
      uri: 'platform://projects',
      name: 'projects',
      title: 'Projects',
      description: 'All projects accessible to the caller.',
      mimeType: 'application/json',
      annotations: { audience: ['user', 'assistant'] },
    });
  });

  it('has one page of each list, so that there is no cursor', async () => {
    for (const method of ['resources/list', 'resources/templates/list', 'tools/list']) {
      const { json } = await asked().current(method, { cursor: 'a' });
      expect(json.error).to.deep.include({ code: -32602 });
      expect(json.error.data.code).to.equal('invalid_params');
    }
  });

  it('returns the remaining freshness of the snapshot as ttlMs', async () => {
    for (const [rest, ttlMs] of [
      [cachedFor(4321), 4321],
      [cachedFor(1234.5), 1234],
      [cachedFor(-1), 0],
      [{}, 0],
      [{ cached: { ...cachedFor(1000).cached, error: new GatewayError('upstream_failed') } }, 0],
    ] as const) {
      const load = loadOf([], rest as object);
      const { json } = await asked({ read: () => load }).current('resources/read', { uri: URIS[1] });
      expect(json.result).to.deep.include({ ttlMs, cacheScope: 'private', resultType: 'complete' });
      expect(json.result.contents[0].text).to.equal('[]');
    }
  });

  it('answers uri_missing without a URI', async () => {
    for (const uri of [undefined, '', 5, null]) {
      const { json } = await asked().raw(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: ENVELOPE } }),
        { headers: { protocolVersion: '2026-07-28', method: 'resources/read', name: '' } },
      );
      expect(json.error.data.code, String(uri)).to.equal('uri_missing');
      expect(json.error.code).to.equal(-32602);
    }
  });

  for (const [what, headers] of [
    ['another Mcp-Method than its message has', { method: 'resources/list' }],
    ['another Mcp-Name than its message has', { name: 'platform://projects' }],
    ['an Mcp-Name that is no base64', { name: '=?base64?%%?=' }],
    ['no Mcp-Method', { method: undefined }],
    ['no Mcp-Name', { name: undefined }],
    ['no MCP-Protocol-Version', { protocolVersion: undefined }],
    ['another MCP-Protocol-Version than its message has', { protocolVersion: '2025-11-25' }],
  ] as const) {
    it(`refuses a request with ${what}`, async () => {
      const { status, json, record } = await asked().current('resources/read', { uri: URIS[2] }, headers);
      expect(status).to.equal(400);
      expect(json.id).to.equal(1);
      expect(json.error.code).to.equal(-32020);
      expect(json.error.data).to.include({ code: 'header_mismatch', requestId: 'request-of-the-test' });
      expect(record.error?.code).to.equal('header_mismatch');
    });
  }

  for (const [what, meta] of [
    ['no revision, under a header that names one', undefined],
    ['a revision that is no text', { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': 1 }],
    ['no capabilities', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }],
    ['capabilities that are none', { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': [] }],
    ['capabilities nested beyond reason', { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': nested(3000) }],
    ['a client that is none', { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': 7 }],
    ['a log level that is none', { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'loud' }],
  ] as const) {
    it(`refuses an envelope with ${what}`, async () => {
      const { status, json, bugs } = await asked().raw(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: meta } }),
        { headers: { ...NO_HEADERS, protocolVersion: '2026-07-28', method: 'resources/list' } },
      );
      expect({ status, code: json.error.code }).to.deep.equal({ status: 400, code: -32602 });
      expect(json.error.data.code).to.equal('invalid_params');
      expect(bugs).to.deep.equal([]);
    });
  }

  it('rejects an unknown revision, with the supported ones', async () => {
    const version = '2031-01-01';
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': version };
    const { status, json } = await asked().raw(
      JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'server/discover', params: { _meta } }),
      { headers: { ...NO_HEADERS, protocolVersion: version, method: 'server/discover' } },
    );
    expect(status).to.equal(400);
    expect(json.id).to.equal('a');
    expect(json.error.code).to.equal(-32022);
    expect(json.error.data).to.deep.include({
      code: 'version_unsupported',
      supported: ['2026-07-28'],
      requested: version,
    });
  });

  it('answers an unknown method, ping and initialize among them, with 404', async () => {
    for (const method of ['nothing', 'ping', 'initialize', 'prompts/list', 'resources/subscribe']) {
      const { status, json } = await asked().current(method);
      expect(status, method).to.equal(404);
      expect(json.error.code).to.equal(-32601);
      expect(json.error.data.code).to.equal('not_found');
    }
  });

  it('acknowledges a subscription and completes it', async () => {
    const { status, headers, text } = await asked().current('subscriptions/listen', {
      notifications: { resourcesListChanged: true, toolsListChanged: true, resourceSubscriptions: [URIS[0]] },
    });
    expect(status).to.equal(200);
    expect(headers['Content-Type']).to.equal('text/event-stream');
    const [acknowledged, ended] = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)));
    expect(acknowledged.method).to.equal('notifications/subscriptions/acknowledged');
    expect(acknowledged.params.notifications).to.deep.equal({});
    expect(ended).to.deep.include({ id: 1 });
    expect(ended.result.resultType).to.equal('complete');
  });
});

describe('a body that is no message', () => {
  for (const [what, body, code, rpc] of [
    ['nothing', '', 'parse_error', -32700],
    ['text', 'hello', 'parse_error', -32700],
    ['JSON that breaks off', '{"jsonrpc":"2.0"', 'parse_error', -32700],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'parse_error', -32700],
    ['null', 'null', 'invalid_rpc', -32600],
    ['a number', '1', 'invalid_rpc', -32600],
    ['an empty object', '{}', 'invalid_rpc', -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 'invalid_rpc', -32600],
    ['a fraction for an id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 'invalid_rpc', -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 'invalid_rpc', -32600],
  ] as const) {
    it(`is refused: ${what}`, async () => {
      const { status, json, record, bugs } = await asked().raw(body);
      expect(status).to.equal(400);
      expect(json.jsonrpc).to.equal('2.0');
      expect(json.error.code).to.equal(rpc);
      expect(json.error.data).to.include({ code, requestId: 'request-of-the-test' });
      expect(record.error?.code).to.equal(code);
      expect(bugs).to.deep.equal([]);
    });
  }
});

describe('a failed read', () => {
  const failing = (error: unknown) =>
    asked({
      read: () => {
        throw error;
      },
    });
  const revisions = ['earlier', 'current'] as const;

  for (const revision of revisions) {
    it(`is a JSON-RPC error with its code, in the ${revision} revision`, async () => {
      const error = new GatewayError('upstream_rate_limited', {
        upstream: 'tools',
        retryAfterSeconds: 7,
        reason: 'answered with status 429',
        cause: new Error('http://internal.example/secret'),
      });
      const { status, text, json, record } = await failing(error)[revision]('resources/read', { uri: URIS[2] });
      expect(status).to.equal(200);
      expect(json.error).to.deep.equal({
        code: -32603,
        message: 'The platform limits the rate of requests. Try again after Retry-After. (upstream tools)',
        data: {
          code: 'upstream_rate_limited',
          requestId: 'request-of-the-test',
          upstream: 'tools',
          retryAfterSeconds: 7,
        },
      });
      expect(text).not.to.contain('429').and.not.to.contain('internal.example');
      expect(record).to.include({ error, resource: 'tools', rpc: 'resources/read' });
      expect(record.upstreamMs).to.be.a('number');
    });

    it(`that is a bug reveals nothing, and is logged once, in the ${revision} revision`, async () => {
      const bug = new Error(`at http://internal.example with ${TOKEN}`);
      const { status, text, json, bugs, record } = await failing(bug)[revision]('resources/read', { uri: URIS[2] });
      expect(status).to.equal(200);
      expect(json.error.code).to.equal(-32603);
      expect(json.error.data).to.deep.equal({ code: 'internal', requestId: 'request-of-the-test' });
      expect(text).not.to.contain('internal.example');
      expect(bugs).to.have.length(1);
      expect(bugs[0]).to.include({ requestId: 'request-of-the-test' });
      expect(bugs[0]?.stack).to.contain('at http://internal.example with [credential]').and.not.contain(TOKEN);
      expect(record.error?.code).to.equal('internal');
    });
  }
});

describe('a request over MCP', () => {
  it('records the error behind a stale list', async () => {
    const error = new GatewayError('upstream_refused', { upstream: 'tools' });
    const { cached } = cachedFor(-1000);
    if (cached === undefined) throw new Error('nothing is held');
    const load = loadOf([], { cached: { ...cached, forwarded: 'stale', error } });
    const { record } = await asked({ read: () => load }).earlier('resources/read', { uri: URIS[2] });
    expect(record).to.include({ cache: 'stale', staleFor: error }).and.not.have.property('error');
  });

  it('reads for its caller, with Cache-Control: no-cache', async () => {
    const reads: CatalogueRead[] = [];
    const { raw } = asked({
      read: (read) => {
        reads.push(read);
        return loadOf([]);
      },
    });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: URIS[0] } });
    await raw(body, { noCache: true });
    await raw(body);
    expect(reads.map(({ name, noCache }) => [name, noCache])).to.deep.equal([
      ['projects', true],
      ['projects', false],
    ]);
    expect(reads[0]?.caller.requestId).to.equal('request-of-the-test');
  });

  it('emits an event for each request, with its outcome', async () => {
    const told: unknown[] = [];
    const handler = asked({
      read: ({ name }) => {
        if (name === 'projects') throw new GatewayError('upstream_failed');
        return loadOf([], cachedFor(1));
      },
      events: {
        operationEnded({ ms, ...rest }) {
          expect(ms).to.be.within(0, 25_000);
          told.push(Object.values(rest).filter((value) => value !== undefined));
        },
      },
    });
    const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: told.length, method, params });
    await handler.raw(
      JSON.stringify([
        request('tools/call', { name: 'list_installed_tools' }),
        request('tools/call', { name: 'list_projects' }),
        request('tools/call', { name: 'secret-of-mine' }),
        request('resources/read', { uri: 'secret-of-mine' }),
        request('resources/read', { uri: URIS[1] }),
        request('secret-of-mine'),
        { jsonrpc: '2.0', method: 'notifications/initialized' },
      ]),
    );
    await handler.current('resources/read', { uri: 'secret-of-mine' });
    expect(told).to.deep.equal([
      ['tools/call', 'list_installed_tools'],
      ['tools/call', 'list_projects', 'tool_error'],
      ['tools/call', -32602],
      ['resources/read', -32002],
      ['resources/read'],
      ['other', -32601],
      ['resources/read', '2026-07-28', -32602],
    ]);
  });

  it('records what the log needs', async () => {
    const load = loadOf([], cachedFor(1));
    const { record } = await asked({ read: () => load }).current('resources/read', { uri: URIS[1] });
    expect(record).to.include({ rpc: 'resources/read', resource: 'workflows', upstreamMs: 12, cache: 'hit' });
    expect(record).not.to.have.any.keys('tool', 'error');
    expect((await asked().earlier('secret-of-mine')).record.rpc).to.equal('other');
    expect((await asked().raw('[]')).record.rpc).to.equal('batch');
  });

  for (const revision of ['earlier', 'current'] as const) {
    for (const [method, params] of [
      ['resources/read', { uri: URIS[0] }],
      ['tools/call', { name: 'list_projects' }],
    ] as const) {
      it(`aborts its ${method} when the caller disconnects, in the ${revision} revision`, async () => {
        const controller = new AbortController();
        const begun = Promise.withResolvers<AbortSignal>();
        const told: unknown[] = [];
        const handler = asked({
          events: { operationEnded: ({ rpc, error }) => told.push([rpc, error]) },
          read: ({ signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
              begun.resolve(signal);
            }),
        });
        const rest = { signal: controller.signal };
        const response =
          revision === 'earlier' ? handler.earlier(method, params, rest) : handler.current(method, params, {}, rest);
        const caught = response.catch((error: unknown) => error);
        const signal = await begun.promise;
        controller.abort();
        expect(await caught).to.have.property('name', 'AbortError');
        expect(told).to.deep.equal([[method, 'cancelled']]);
        expect(signal.aborted).to.equal(true);
      });
    }
  }
});

describe('the instructions for a model', () => {
  it('name every offered resource, including a fourth', async () => {
    const { catalogue } = optionsOf();
    const [first] = catalogue.offered;
    if (first === undefined) return expect.fail('nothing is offered');
    const description = 'All scanners that are out of order.';
    const fourth = {
      resource: { ...first.resource, name: 'scanners' },
      definition: { ...first.definition, description },
      upstream: 'platform',
      known: {},
      requiredScopes: [],
    };
    const offered = [...catalogue.offered, fourth];
    const { json } = await asked({ catalogue: { ...catalogue, offered } }).current('server/discover');
    for (const { definition } of offered) expect(json.result.instructions).to.contain(definition.description);
  });
});

describe('MCP without tools', () => {
  it('neither announces nor has them', async () => {
    const { current, earlier } = asked({ tools: false });
    expect((await current('server/discover')).json.result.capabilities).to.deep.equal({ resources: {} });
    expect((await current('tools/list')).json.error.code).to.equal(-32601);
    expect((await earlier('tools/call', { name: 'list_installed_tools' })).json.error.code).to.equal(-32601);
    const { result } = (await earlier('initialize', { ...CLIENT, protocolVersion: '2025-11-25' })).json;
    expect(result.instructions).not.to.contain('tools return');
  });
});
