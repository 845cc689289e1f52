import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import type { CatalogueRead } from '../../support/catalogue.ts';
import { URIS } from '../../support/resources.ts';
import { asked, CLIENT, cachedFor, ENVELOPE, loadOf, NO_HEADERS, optionsOf } from './asked.ts';

/** Capabilities of an extension, as deep as that. */
function nested(depth: number): object {
  let inner: object = {};
  for (let level = 0; level < depth; level += 1) inner = { a: inner };
  return { experimental: { a: inner } };
}

// What the SDK's server answers, too, is compared with it: differential.test.ts.
describe('MCP before 2026-07-28', () => {
  it('answers with JSON, not with a stream, and gives out no session', async () => {
    const { headers } = await asked().earlier('ping');
    expect(headers).to.deep.equal({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  it('calls an unknown resource -32002, and names those that there are', async () => {
    const { status, json, record } = await asked().earlier('resources/read', { uri: 'platform://nothing' });
    expect(status).to.equal(200);
    expect(json.error).to.deep.equal({
      code: -32002,
      message: `No resource has this uri. There are: ${URIS.join(', ')}.`,
      data: { code: 'resource_unknown', requestId: 'request-of-the-test', uri: 'platform://nothing' },
    });
    expect(record.error?.code).to.equal('resource_unknown');
  });

  it('is refused in a revision that is not spoken, with those that are', async () => {
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

  it('takes capabilities that nobody could mean for a mistake of the client', async () => {
    const nested = `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`;
    const params = `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"a":${nested}}},"clientInfo":{"name":"a","version":"1"}}`;
    const { status, json, bugs } = await asked().raw(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`,
    );
    expect(status).to.equal(200);
    expect(json.error.code).to.equal(-32602);
    expect(bugs).to.deep.equal([]);
  });
});

describe('a batch', () => {
  const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const send = (batch: readonly object[]) => asked().raw(JSON.stringify(batch));

  it('has an answer for each request, also where ids repeat', async () => {
    expect((await send([ping(1), ping(1)])).json).to.have.length(2);
  });

  it('is answered although it cancels what it asks for', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await send([ping(1), cancel])).json).to.have.length(1);
  });
});

describe('MCP from 2026-07-28 on', () => {
  it('tells how long the very snapshot is fresh yet', async () => {
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

  it('says where a uri is missing', async () => {
    for (const uri of [undefined, '', 5, null]) {
      const { json } = await asked().raw(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: ENVELOPE } }),
        { headers: { protocolVersion: '2026-07-28', method: 'resources/read', name: '' } },
      );
      expect(json.error.data.code, String(uri)).to.equal('uri_missing');
      expect(json.error.code).to.equal(-32602);
    }
  });

  it('refuses an envelope with capabilities nested 3000 levels deep', async () => {
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': nested(3000) };
    const { status, json, bugs } = await asked().raw(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta } }),
      { headers: { ...NO_HEADERS, protocolVersion: '2026-07-28', method: 'resources/list' } },
    );
    expect({ status, code: json.error.code }).to.deep.equal({ status: 400, code: -32602 });
    expect(bugs).to.deep.equal([]);
  });

  it('refuses a revision that it does not know, with those that it does', async () => {
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

  it('acknowledges a subscription to what never changes, and ends it', async () => {
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

describe('a failed read', () => {
  const failing = (error: unknown) =>
    asked({
      read: () => {
        throw error;
      },
    });
  const revisions = ['earlier', 'current'] as const;

  for (const revision of revisions) {
    it(`is an error of JSON-RPC with its code, in the ${revision} revision`, async () => {
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
        message: 'The platform asks to slow down. Try again after Retry-After. (upstream tools)',
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

    it(`that is a bug tells nothing of it, and is logged once, in the ${revision} revision`, async () => {
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

    for (const [code, rpc] of [
      ['credential_rejected', 401],
      ['access_denied', 403],
    ] as const) {
      it(`that is ${code} is told as any other, with its upstream, in the ${revision} revision`, async () => {
        const error = new GatewayError(code, { upstream: 'tools' });
        const ask = failing(error)[revision];
        const read = await ask('resources/read', { uri: URIS[2] });
        expect(read).to.include({ status: 200 });
        expect(read.json.error).to.deep.include({ code: rpc, message: `${error.detail} (upstream tools)` });
        expect(read.json.error.data).to.include({ code, upstream: 'tools' });
        const called = await ask('tools/call', { name: 'list_tools' });
        expect(called).to.include({ status: 200 });
        expect(called.json.result.isError).to.equal(true);
        expect(called.json.result.content).to.deep.equal([
          { type: 'text', text: `${code}: ${error.detail} (upstream tools, request request-of-the-test)` },
        ]);
        expect(called.record).to.include({ error });
      });
    }
  }

  it('that is of one platform leaves the others of a batch alone', async () => {
    const read = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'resources/read',
      params: { uri: `platform://${name}` },
    });
    const { raw } = asked({
      read: ({ name }) => {
        if (name === 'tools') throw new GatewayError('credential_rejected', { upstream: 'tools' });
        return loadOf([]);
      },
    });
    const { status, json } = await raw(JSON.stringify([read(1, 'tools'), read(2, 'projects')]));
    expect(status).to.equal(200);
    expect(json[0].error.data).to.include({ code: 'credential_rejected', upstream: 'tools' });
    expect(json[1].result.contents[0].text).to.equal('[]');
  });
});

describe('a request over MCP', () => {
  it('has on record in place of what error it was given a stale list', async () => {
    const error = new GatewayError('upstream_refused', { upstream: 'tools' });
    const { cached } = cachedFor(-1000);
    if (cached === undefined) throw new Error('nothing is held');
    const load = loadOf([], { cached: { ...cached, forwarded: 'stale', error } });
    const { record } = await asked({ read: () => load }).earlier('resources/read', { uri: URIS[2] });
    expect(record).to.include({ cache: 'stale', staleFor: error }).and.not.have.property('error');
  });

  it('is read for its own caller, with its wish for what is new', async () => {
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

  it('tells of each request by itself, and how it ended', async () => {
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
        request('tools/call', { name: 'list_tools' }),
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
      ['tools/call', 'list_tools'],
      ['tools/call', 'list_projects', 'tool_error'],
      ['tools/call', -32602],
      ['resources/read', -32002],
      ['resources/read'],
      ['other', -32601],
      ['resources/read', -32602],
    ]);
  });

  it('leaves what the log says of it', async () => {
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
      it(`that hangs up ends its ${method} and is told nothing, in the ${revision} revision`, async () => {
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
          caller: callerWith(TOKEN, { requestId }),
        }),
      ),
    );
    expect(answers.map(({ json }) => JSON.parse(json.result.contents[0].text)[0].id)).to.deep.equal(ids);
  });
});

describe('the instructions for a model', () => {
  it('name every resource that is offered, a fourth one too', async () => {
    const { catalogue } = optionsOf();
    const [first] = catalogue.offered;
    if (first === undefined) return expect.fail('nothing is offered');
    const description = 'All scanners that are out of order.';
    const fourth = {
      resource: { ...first.resource, name: 'scanners' },
      definition: { ...first.definition, description },
      known: {},
      requiredScopes: [],
    };
    const offered = [...catalogue.offered, fourth];
    const { json } = await asked({ catalogue: { ...catalogue, offered } }).current('server/discover');
    for (const { definition } of offered) expect(json.result.instructions).to.contain(definition.description);
  });
});

describe('MCP without tools', () => {
  it('neither claims nor has them', async () => {
    const { current, earlier } = asked({ tools: false });
    expect((await current('server/discover')).json.result.capabilities).to.deep.equal({ resources: {} });
    expect((await current('tools/list')).json.error.code).to.equal(-32601);
    expect((await earlier('tools/call', { name: 'list_tools' })).json.error.code).to.equal(-32601);
    const { result } = (await earlier('initialize', { ...CLIENT, protocolVersion: '2025-11-25' })).json;
    expect(result.instructions).not.to.contain('tools return');
  });
});
