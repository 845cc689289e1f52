import { expect } from 'chai';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { callerWith, TOKEN } from '../../support/authorization/caller.ts';
import { URIS } from '../../support/resources.ts';
import { readOf, rpc } from '../../support/rpc.ts';
import { asked, CLIENT, ENVELOPE, NO_HEADERS } from './asked.ts';

// Status, result and code of every kind of message: differential.test.ts. What reads come to: parity.test.ts.

const requestId = 'request-of-the-test';

describe('MCP', () => {
  it('neither announces nor has tools where they are off', async () => {
    const { current, earlier } = asked({ tools: false });
    expect((await current('server/discover')).json.result.capabilities).to.deep.equal({ resources: {} });
    expect((await current('tools/list')).json.error.code).to.equal(-32601);
    expect((await earlier('tools/call', { name: 'list_installed_tools' })).json.error.code).to.equal(-32601);
    const { result } = (await earlier('initialize', { ...CLIENT, protocolVersion: '2025-11-25' })).json;
    expect(result.instructions).not.to.contain('tools return');
  });

  it('names in its errors what there is instead', async () => {
    const uri = 'platform://nothing';
    const unknown = await asked().earlier('resources/read', { uri });
    expect(unknown.json.error).to.deep.equal({
      code: -32002,
      message: `There is no resource with this uri. Resources are: ${URIS.join(', ')}.`,
      data: { code: 'resource_unknown', requestId, uri },
    });
    expect(unknown.record.error?.code).to.equal('resource_unknown');

    const version = '2031-01-01';
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': version };
    const headers = { ...NO_HEADERS, protocolVersion: version, method: 'server/discover' };
    const { json, record } = await asked().raw(JSON.stringify(rpc('server/discover', { _meta })), { headers });
    expect(json.error.message).to.contain('2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26');
    const code = 'version_unsupported';
    expect(json.error.data).to.deep.equal({ code, requestId, supported: ['2026-07-28'], requested: version });
    expect(record.error?.code).to.equal(code);
  });
});

describe('a failed read over MCP', () => {
  const failing = (error: unknown) => asked({ read: () => Promise.reject(error) });

  it('has the text of the error table, and none of the platform', async () => {
    const error = new GatewayError('upstream_rate_limited', {
      ...{ upstream: 'tools', retryAfterSeconds: 7, reason: 'answered with status 429' },
      cause: new Error('http://internal.example/secret'),
    });
    const { text, json, record } = await failing(error).earlier('resources/read', { uri: URIS[2] });
    expect(json.error).to.deep.equal({
      code: -32603,
      message: 'The platform limits the rate of requests. Try again after 7 s. (upstream tools)',
      data: { code: 'upstream_rate_limited', requestId, upstream: 'tools', retryAfterSeconds: 7 },
    });
    expect(text).not.to.contain('429').and.not.to.contain('internal.example');
    expect(record).to.include({ error, resource: 'tools', rpc: 'resources/read' });
  });

  it('that is a bug reveals nothing, and is logged once', async () => {
    const bug = new Error(`at http://internal.example with ${TOKEN} and other-secret`);
    const caller = callerWith(TOKEN, { headerCredentials: new Map([['x-key', [new Credential('other-secret')]]]) });
    const asking = failing(bug).earlier('resources/read', { uri: URIS[2] }, { caller });
    const { status, json, bugs, record } = await asking;
    expect(status).to.equal(200);
    expect(json.error).to.deep.include({ code: -32603, data: { code: 'internal', requestId } });
    expect(JSON.stringify(json)).not.to.contain('internal.example');
    expect(bugs).to.have.length(1);
    expect(bugs[0]).to.include({ requestId });
    expect(bugs[0]?.stack).to.contain('at http://internal.example with [credential] and [credential]');
    expect(record.error?.code).to.equal('internal');
  });
});

describe('a request over MCP', () => {
  for (const message of [readOf('projects'), rpc('tools/call', { name: 'list_projects' })]) {
    it(`aborts its ${message.method} when the caller disconnects`, async () => {
      const controller = new AbortController();
      const told: unknown[] = [];
      const handler = asked({
        events: { operationEnded: ({ rpc, error }) => told.push([rpc, error]) },
        read: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            controller.abort();
          }),
      });
      const answer = handler.raw(JSON.stringify(message), { signal: controller.signal });
      expect(await answer.catch((error: unknown) => error)).to.have.property('name', 'AbortError');
      expect(told).to.deep.equal([[message.method, 'cancelled']]);
    });
  }
});
