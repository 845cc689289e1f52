import { expect } from 'chai';
import { createDispatch } from '../../../src/core/mcp/dispatch.ts';
import { URIS } from '../../support/resources.ts';
import { asked, CLIENT, optionsOf } from './asked.ts';

const SIGNAL = new AbortController().signal;

describe('MCP without a credential, with publicLists', () => {
  const anonymous = { caller: undefined };
  const notRead = { read: () => expect.fail('nothing is read') };

  it('lists what is offered, in both revisions', async () => {
    const { earlier, current } = asked(notRead);
    const withCaller = asked();
    for (const [method, params] of [
      ['initialize', { ...CLIENT, protocolVersion: '2025-11-25' }],
      ['ping'],
      ['resources/list'],
      ['resources/templates/list'],
      ['tools/list'],
    ] as const) {
      const { status, text, json } = await earlier(method, params, anonymous);
      expect([status, json.error], method).to.deep.equal([200, undefined]);
      expect(text).to.equal((await withCaller.earlier(method, params)).text);
    }
    for (const method of ['server/discover', 'resources/list', 'resources/templates/list', 'tools/list']) {
      const { status, text, json } = await current(method, {}, {}, anonymous);
      expect([status, json.error], method).to.deep.equal([200, undefined]);
      expect(text).to.equal((await withCaller.current(method)).text);
    }
  });

  it('accepts notifications', async () => {
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await asked(notRead).raw(JSON.stringify(message), anonymous)).status).to.equal(202);
  });

  it('requires a credential for reads, tools and all other methods', async () => {
    const { earlier, current } = asked(notRead);
    for (const [method, params] of [
      ['resources/read', { uri: URIS[0] }],
      ['resources/read', { uri: 'platform://nothing' }],
      ['resources/read', {}],
      ['tools/call', { name: 'list_installed_tools' }],
      ['tools/call', { name: 'nothing' }],
      ['subscriptions/listen', { notifications: {} }],
      ['prompts/list', {}],
      ['constructor', {}],
    ] as const) {
      for (const ask of [() => earlier(method, params, anonymous), () => current(method, params, {}, anonymous)]) {
        expect(await rejectionOf(ask()), method).to.include({ code: 'credential_missing', status: 401 });
      }
    }
  });

  it('requires a credential for a batch with a read', async () => {
    const { raw } = asked(notRead);
    const batch = (...methods: string[]) =>
      JSON.stringify(methods.map((method, id) => ({ jsonrpc: '2.0', id, method, params: { uri: URIS[0] } })));
    const { status, json } = await raw(batch('ping', 'tools/list', 'resources/list'), anonymous);
    expect([status, json.length]).to.deep.equal([200, 3]);
    for (const methods of [
      ['ping', 'resources/read', 'ping'],
      ['tools/call', 'ping'],
      ['ping', 'tools/call'],
    ]) {
      expect(await rejectionOf(raw(batch(...methods), anonymous))).to.include({ code: 'credential_missing' });
    }
  });

  it('answers an invalid message with its error', async () => {
    const { raw, earlier } = asked(notRead);
    expect((await raw('{', anonymous)).json.error.data.code).to.equal('parse_error');
    expect((await raw('[]', anonymous)).json.error.data.code).to.equal('invalid_rpc');
    const { json } = await earlier('resources/list', { cursor: 'a' }, anonymous);
    expect(json.error.data).to.deep.equal({ code: 'invalid_params', requestId: 'request-of-the-test' });
  });

  it('does not reach the catalogue without a credential', async () => {
    const dispatch = createDispatch(optionsOf(notRead));
    const record = { edge: 'http', requestId: 'a', begun: 0, ms: 0, outcome: '', bytes: 0 } as const;
    const context = { ...anonymous, record, noCache: false, signal: SIGNAL, ending: SIGNAL };
    const request = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: URIS[0] } } as const;
    const { response } = await dispatch(request, '2025-11-25', context);
    expect(JSON.parse(response.join('')).error).to.deep.include({ code: 401 });
  });

  it('logs a bug without a credential to mask', async () => {
    const catalogue = { ...optionsOf().catalogue, find: () => expect.fail() };
    const internal: unknown[] = [];
    const events = { internalError: (bug: unknown) => internal.push(bug) };
    const record = { edge: 'http', requestId: 'a', begun: 0, ms: 0, outcome: '', bytes: 0 } as const;
    const context = { ...anonymous, record, noCache: false, signal: SIGNAL, ending: SIGNAL };
    const request = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: URIS[0] } } as const;
    await createDispatch(optionsOf({ catalogue, events }))(request, '2025-11-25', context);
    expect(internal).to.have.length(1);
    expect(internal[0]).to.deep.include({ requestId: 'a' });
  });
});

async function rejectionOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error,
  );
}
