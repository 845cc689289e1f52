import { expect } from 'chai';
import { GatewayError } from '../../src/kernel/errors.ts';
import { callerWith } from '../support/caller.ts';
import { asked, cachedFor, ENVELOPE, loadOf, type Read, toolItem } from './asked.ts';

const URIS = ['platform://projects', 'platform://workflows', 'platform://tools'];
const INITIALIZE = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

describe('MCP before 2026-07-28', () => {
  for (const version of LEGACY) {
    it(`is agreed on as ${version}`, async () => {
      const { status, json } = await asked().legacy('initialize', { ...INITIALIZE, protocolVersion: version });
      expect(status).to.equal(200);
      expect(json.result.protocolVersion).to.equal(version);
      expect(json.result.serverInfo).to.deep.equal({ name: 'portico', title: 'Portico', version: '1.2.3' });
      expect(json.result.capabilities).to.deep.equal({ resources: {}, tools: {} });
    });
  }

  it('offers its latest revision to a client that asks for an unknown one', async () => {
    const { json } = await asked().legacy('initialize', { ...INITIALIZE, protocolVersion: '2031-01-01' });
    expect(json.result.protocolVersion).to.equal('2025-11-25');
  });

  it('answers with JSON, not with a stream, and gives out no session', async () => {
    const { headers } = await asked().legacy('ping');
    expect(headers).to.deep.equal({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  it('reads a resource byte for byte, with nothing of the newer era', async () => {
    const load = loadOf([toolItem('ä"\\\u2028')], cachedFor(5000));
    const { json } = await asked({ read: () => load }).legacy('resources/read', { uri: URIS[2] });
    expect(json.result).to.deep.equal({
      contents: [{ uri: URIS[2], mimeType: 'application/json', text: load.snapshot.bytes.toString() }],
    });
  });

  it('calls an unknown resource -32002, and names those that there are', async () => {
    const { status, json, facts } = await asked().legacy('resources/read', { uri: 'platform://nothing' });
    expect(status).to.equal(200);
    expect(json.error).to.deep.equal({
      code: -32002,
      message: `No resource has this uri. There are: ${URIS.join(', ')}.`,
      data: { code: 'resource_unknown', requestId: 'request-of-the-test', uri: 'platform://nothing' },
    });
    expect(facts.failure?.code).to.equal('resource_unknown');
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

  it('does not know the methods of the newer era', async () => {
    for (const method of ['server/discover', 'subscriptions/listen', 'prompts/list', 'nothing']) {
      const { status, json } = await asked().legacy(method);
      expect(status).to.equal(200);
      expect(json.error).to.deep.include({ code: -32601 });
      expect(json.error.data.code).to.equal('not_found');
    }
  });

  it('is refused in a revision that is not spoken, with those that are', async () => {
    const { status, json } = await asked().legacy('ping', {}, { headers: { 'mcp-protocol-version': '2025-01-01' } });
    expect(status).to.equal(400);
    expect(json).to.deep.include({ id: 1 });
    expect(json.error.code).to.equal(-32022);
    expect(json.error.message).to.contain('2025-11-25, 2025-06-18, 2025-03-26');
    expect(json.error.data.code).to.equal('version_unsupported');
  });

  it('says what initialize lacks', async () => {
    const { json } = await asked().legacy('initialize', {});
    expect(json.error).to.deep.include({ code: -32602 });
    expect(json.error.data.code).to.equal('invalid_params');
  });
});

describe('a batch', () => {
  const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const send = (batch: readonly object[], version?: string) =>
    asked().raw(JSON.stringify(batch), {
      headers: version === undefined ? {} : { 'mcp-protocol-version': version },
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

  it('has an answer for each request, also where ids repeat', async () => {
    expect((await send([ping(1), ping(1)])).json).to.have.length(2);
  });

  it('is answered although it cancels what it asks for', async () => {
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
    ['that speaks the newer era', [{ ...ping(1), params: { _meta: ENVELOPE } }], undefined],
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
  it('tells what it offers', async () => {
    const { status, json } = await asked().modern('server/discover');
    expect(status).to.equal(200);
    expect(json.result.supportedVersions).to.deep.equal(['2026-07-28']);
    expect(json.result.capabilities).to.deep.equal({ resources: {}, tools: {} });
    expect(json.result.resultType).to.equal('complete');
  });

  it('lists three resources, with a name for programs and a title for people', async () => {
    const { json } = await asked().modern('resources/list');
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

  it('has no templates', async () => {
    expect((await asked().modern('resources/templates/list')).json.result.resourceTemplates).to.deep.equal([]);
  });

  it('has one page of each list, so that there is no cursor', async () => {
    for (const method of ['resources/list', 'resources/templates/list', 'tools/list']) {
      const { json } = await asked().modern(method, { cursor: 'a' });
      expect(json.error).to.deep.include({ code: -32602 });
      expect(json.error.data.code).to.equal('invalid_params');
    }
  });

  it('tells how long the very snapshot is fresh yet', async () => {
    for (const [rest, ttlMs] of [
      [cachedFor(4321), 4321],
      [cachedFor(1234.5), 1234],
      [cachedFor(-1), 0],
      [{}, 0],
      [{ cached: { ...cachedFor(1000).cached, failure: new GatewayError('upstream_failed') } }, 0],
    ] as const) {
      const load = loadOf([], rest as object);
      const { json } = await asked({ read: () => load }).modern('resources/read', { uri: URIS[1] });
      expect(json.result).to.deep.include({ ttlMs, cacheScope: 'private', resultType: 'complete' });
      expect(json.result.contents[0].text).to.equal('[]');
    }
  });

  it('calls an unknown resource -32602', async () => {
    const { status, json } = await asked().modern('resources/read', { uri: 'platform://Tools' });
    expect(status).to.equal(200);
    expect(json.error.code).to.equal(-32602);
    expect(json.error.message).to.contain(URIS.join(', '));
  });

  it('says where a uri is missing', async () => {
    for (const uri of [undefined, '', 5, null]) {
      const { json } = await asked().raw(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: ENVELOPE } }),
        { headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': '' } },
      );
      expect(json.error.data.code, String(uri)).to.equal('uri_missing');
      expect(json.error.code).to.equal(-32602);
    }
  });

  it('takes Mcp-Name in base64, too', async () => {
    const name = `=?base64?${Buffer.from('platform://tools').toString('base64')}?=`;
    expect((await asked().modern('resources/read', { uri: URIS[2] }, { 'mcp-name': name })).status).to.equal(200);
  });

  for (const [what, headers] of [
    ['another Mcp-Method than its message has', { 'mcp-method': 'resources/list' }],
    ['another Mcp-Name than its message has', { 'mcp-name': 'platform://projects' }],
    ['an Mcp-Name that is no base64', { 'mcp-name': '=?base64?%%?=' }],
    ['no Mcp-Method', { 'mcp-method': undefined }],
    ['no Mcp-Name', { 'mcp-name': undefined }],
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }],
    ['another MCP-Protocol-Version than its message has', { 'mcp-protocol-version': '2025-11-25' }],
  ] as const) {
    it(`refuses a request with ${what}`, async () => {
      const { status, json, facts } = await asked().modern('resources/read', { uri: URIS[2] }, headers);
      expect(status).to.equal(400);
      expect(json.id).to.equal(1);
      expect(json.error.code).to.equal(-32020);
      expect(json.error.data).to.include({ code: 'header_mismatch', requestId: 'request-of-the-test' });
      expect(facts.failure?.code).to.equal('header_mismatch');
    });
  }

  it('refuses a revision that it does not know, with those that it does', async () => {
    const version = '2031-01-01';
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': version };
    const { status, json } = await asked().raw(
      JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'server/discover', params: { _meta } }),
      { headers: { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' } },
    );
    expect(status).to.equal(400);
    expect(json.id).to.equal('a');
    expect(json.error.code).to.equal(-32022);
    expect(json.error.data).to.deep.include({ supported: ['2026-07-28'], code: 'version_unsupported' });
  });

  it('answers an unknown method, ping and initialize among them, with 404', async () => {
    for (const method of ['nothing', 'ping', 'initialize', 'prompts/list', 'resources/subscribe']) {
      const { status, json } = await asked().modern(method);
      expect(status, method).to.equal(404);
      expect(json.error.code).to.equal(-32601);
      expect(json.error.data.code).to.equal('not_found');
    }
  });

  it('acknowledges a subscription to what never changes, and ends it', async () => {
    const { status, headers, text } = await asked().modern('subscriptions/listen', {
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
      const { status, json, facts, bugs } = await asked().raw(body);
      expect(status).to.equal(400);
      expect(json.jsonrpc).to.equal('2.0');
      expect(json.error.code).to.equal(rpc);
      expect(json.error.data).to.include({ code, requestId: 'request-of-the-test' });
      expect(facts.failure?.code).to.equal(code);
      expect(bugs).to.deep.equal([]);
    });
  }

  it('may begin with a byte order mark', async () => {
    expect((await asked().raw('\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).to.equal(200);
  });
});

describe('a failed read', () => {
  const failing = (error: unknown) =>
    asked({
      read: () => {
        throw error;
      },
    });
  const eras = ['legacy', 'modern'] as const;

  for (const era of eras) {
    it(`is an error of JSON-RPC with its code, in the ${era} era`, async () => {
      const error = new GatewayError('upstream_rate_limited', {
        upstream: 'tools',
        retryAfterSeconds: 7,
        reason: 'answered with status 429',
        cause: new Error('http://internal.example/secret'),
      });
      const { status, text, json, facts } = await failing(error)[era]('resources/read', { uri: URIS[2] });
      expect(status).to.equal(200);
      expect(json.error).to.deep.equal({
        code: -32603,
        message: 'The platform asks to slow down. Try again after Retry-After.',
        data: {
          code: 'upstream_rate_limited',
          requestId: 'request-of-the-test',
          upstream: 'tools',
          retryAfterSeconds: 7,
        },
      });
      expect(text).not.to.contain('429').and.not.to.contain('internal.example');
      expect(facts).to.include({ failure: error, resource: 'tools', rpc: 'resources/read' });
      expect(facts.upstreamMs).to.be.a('number');
    });

    it(`that is a bug tells nothing of it, and is logged once, in the ${era} era`, async () => {
      const bug = new Error('at http://internal.example');
      const { status, text, json, bugs, facts } = await failing(bug)[era]('resources/read', { uri: URIS[2] });
      expect(status).to.equal(200);
      expect(json.error.code).to.equal(-32603);
      expect(json.error.data).to.deep.equal({ code: 'internal', requestId: 'request-of-the-test' });
      expect(text).not.to.contain('internal.example');
      expect(bugs).to.deep.equal([bug]);
      expect(facts.failure?.code).to.equal('internal');
    });

    for (const code of ['credential_rejected', 'access_denied'] as const) {
      it(`leaves ${code} to HTTP, as a read and as a tool, in the ${era} era`, async () => {
        const error = new GatewayError(code, { upstream: 'tools' });
        const ask = failing(error)[era];
        for (const [method, params] of [
          ['resources/read', { uri: URIS[2] }],
          ['tools/call', { name: 'list_tools' }],
        ] as const) {
          expect(await ask(method, params).catch((thrown: unknown) => thrown)).to.equal(error);
        }
      });
    }
  }

  it('leaves a refused credential to HTTP although others of a batch were answered', async () => {
    const error = new GatewayError('credential_rejected');
    const read = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'resources/read',
      params: { uri: `platform://${name}` },
    });
    const { raw } = asked({
      read: ({ name }) => {
        if (name === 'tools') throw error;
        return loadOf([]);
      },
    });
    const thrown = await raw(JSON.stringify([read(1, 'projects'), read(2, 'tools')])).catch((reason) => reason);
    expect(thrown).to.equal(error);
  });
});

describe('a request over MCP', () => {
  it('is read for its own caller, with its wish for what is new', async () => {
    const reads: Read[] = [];
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

  it('leaves what the log says of it', async () => {
    const load = loadOf([], cachedFor(1));
    const { facts } = await asked({ read: () => load }).modern('resources/read', { uri: URIS[1] });
    expect(facts).to.deep.equal({ rpc: 'resources/read', resource: 'workflows', upstreamMs: 12, load });
    expect((await asked().legacy('secret-of-mine')).facts.rpc).to.equal('other');
    expect((await asked().raw('[]')).facts.rpc).to.equal('batch');
  });

  for (const era of ['legacy', 'modern'] as const) {
    it(`that hangs up ends its read and is told nothing, in the ${era} era`, async () => {
      const controller = new AbortController();
      const begun = Promise.withResolvers<Read>();
      const { raw } = asked({
        read: (read) =>
          new Promise((_resolve, reject) => {
            read.signal.addEventListener('abort', () => reject(read.signal.reason));
            begun.resolve(read);
          }),
      });
      const modern = era === 'modern';
      const answer = raw(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'resources/read',
          params: { uri: URIS[0], ...(modern && { _meta: ENVELOPE }) },
        }),
        {
          signal: controller.signal,
          headers: modern
            ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': URIS[0] }
            : {},
        },
      ).catch((error: unknown) => error);
      const { signal } = await begun.promise;
      controller.abort();
      expect(await answer).to.have.property('name', 'AbortError');
      expect(signal.aborted).to.equal(true);
    });
  }

  it('never meets the answer of another with the same id', async () => {
    const { raw } = asked({
      read: async ({ caller }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        return loadOf([{ id: caller.requestId }]);
      },
    });
    const ids = Array.from({ length: 50 }, (_, index) => `request-${index}`);
    const answers = await Promise.all(
      ids.map((requestId) =>
        raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: URIS[0] } }), {
          caller: { ...callerWith(), requestId },
        }),
      ),
    );
    expect(answers.map(({ json }) => JSON.parse(json.result.contents[0].text)[0].id)).to.deep.equal(ids);
  });
});

describe('MCP without tools', () => {
  it('neither claims nor has them', async () => {
    const { modern, legacy } = asked({ tools: false });
    expect((await modern('server/discover')).json.result.capabilities).to.deep.equal({ resources: {} });
    expect((await modern('tools/list')).json.error.code).to.equal(-32601);
    expect((await legacy('tools/call', { name: 'list_tools' })).json.error.code).to.equal(-32601);
    const { result } = (await legacy('initialize', { ...INITIALIZE, protocolVersion: '2025-11-25' })).json;
    expect(result.instructions).not.to.contain('tools return');
  });
});
