import { expect } from 'chai';
import { createDispatch } from '../../../src/core/mcp/dispatch.ts';
import { URIS } from '../../support/resources.ts';
import { readOf } from '../../support/rpc.ts';
import { errorOf } from '../reads/snapshots/departures.ts';
import { asked, CLIENT, optionsOf } from './asked.ts';

const anonymous = { caller: undefined };
const notRead = { read: () => expect.fail('nothing is read') };
const signal = new AbortController().signal;

describe('MCP without a credential, with publicLists', () => {
  const { earlier, current, raw } = asked(notRead);

  it('lists what is offered, in both revisions', async () => {
    for (const method of ['resources/list', 'resources/templates/list', 'tools/list', 'initialize', 'ping']) {
      const params = method === 'initialize' ? { ...CLIENT, protocolVersion: '2025-11-25' } : {};
      const { text, json } = await earlier(method, params, anonymous);
      expect(json, method).to.have.property('result');
      expect(text).to.equal((await earlier(method, params)).text);
    }
    for (const method of ['resources/list', 'resources/templates/list', 'tools/list', 'server/discover']) {
      const { text, json } = await current(method, {}, {}, anonymous);
      expect(json, method).to.have.property('result');
      expect(text).to.equal((await current(method)).text);
    }
  });

  it('requires a credential for reads, tools and all other methods', async () => {
    for (const [method, params] of [
      ['resources/read', { uri: URIS[0] }],
      ['resources/read', {}],
      ['tools/call', { name: 'list_installed_tools' }],
      ['subscriptions/listen', { notifications: {} }],
      ['constructor', {}],
    ] as const) {
      for (const ask of [earlier(method, params, anonymous), current(method, params, {}, anonymous)]) {
        expect(await errorOf(ask), method).to.include({ code: 'credential_missing', status: 401 });
      }
    }
  });

  it('accepts notifications, and answers an invalid message with its error', async () => {
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await raw(JSON.stringify(message), anonymous)).status).to.equal(202);
    expect((await raw('{', anonymous)).json.error.data.code).to.equal('parse_error');
    const { json } = await earlier('resources/list', { cursor: 'a' }, anonymous);
    expect(json.error.data).to.deep.equal({ code: 'invalid_params', requestId: 'request-of-the-test' });
  });

  it('does not reach the catalogue without a credential, and logs a bug where there is none to mask', async () => {
    const internal: unknown[] = [];
    const events = { internalError: (bug: unknown) => internal.push(bug) };
    const record = { edge: 'http', requestId: 'a', begun: 0, ms: 0, outcome: '', bytes: 0 } as const;
    const context = { ...anonymous, record, noCache: false, noStore: false, signal, ending: signal };
    const catalogue = { ...optionsOf().catalogue, find: () => expect.fail() };
    const request = readOf('projects') as Parameters<ReturnType<typeof createDispatch>>[0];
    const { response } = await createDispatch(optionsOf({ ...notRead, events }))(request, '2025-11-25', context);
    expect(JSON.parse(response.join('')).error).to.deep.include({ code: 401 });
    expect(internal).to.deep.equal([]);
    await createDispatch(optionsOf({ catalogue, events }))(request, '2025-11-25', context);
    expect(internal).to.have.length(1);
    expect(internal[0]).to.deep.include({ requestId: 'a' });
  });
});
