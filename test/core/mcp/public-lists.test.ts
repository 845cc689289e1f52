import { expect } from 'chai';
import { URIS } from '../../support/resources.ts';
import { errorOf } from '../reads/snapshots/fake-loader.ts';
import { asked, CLIENT } from './asked.ts';

const anonymous = { caller: undefined };
const notRead = { read: () => expect.fail('nothing is read') };

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

  it('requires a credential for reads and tools', async () => {
    for (const [method, params] of [
      ['resources/read', { uri: URIS[0] }],
      ['resources/read', {}],
      ['tools/call', { name: 'list_installed_tools' }],
      ['subscriptions/listen', { notifications: {} }],
    ] as const) {
      for (const ask of [earlier(method, params, anonymous), current(method, params, {}, anonymous)]) {
        expect(await errorOf(ask), method).to.include({ code: 'credential_missing', status: 401 });
      }
    }
  });

  it('answers that a method does not exist, which some hosts call whatever is offered', async () => {
    for (const method of ['prompts/list', 'resources/subscribe', 'constructor']) {
      for (const ask of [earlier(method, {}, anonymous), current(method, {}, {}, anonymous)]) {
        expect((await ask).json.error, method).to.include({ code: -32601 });
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
});
