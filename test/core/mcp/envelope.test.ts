import { expect } from 'chai';
import { rpc } from '../../support/rpc.ts';
import { asked, CLIENT, ENVELOPE, NO_HEADERS } from './asked.ts';

const { raw, earlier, current } = asked();
const TOOL = 'list_installed_tools';

// Everything else about messages is compared with the SDK: differential.test.ts.

describe('an id', () => {
  it('comes back as it was sent, or is refused in words that say why', async () => {
    for (const id of ['1', '-7', '0', '9007199254740991', '"9007199254740993"', '"é"']) {
      const { text } = await raw(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect(text).to.contain(`"id":${id},`);
    }
    for (const id of ['9007199254740993', '-9007199254740993', '1e400', '12345678901234567890']) {
      const { status, json } = await raw(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect({ status, id: json.id }).to.deep.equal({ status: 400, id: null });
      expect(json.error.message).to.equal('id: A number above 2^53 - 1 is not exact. Send it as text.');
    }
  });
});

describe('null', () => {
  it('stands for what is left out', async () => {
    const ok = async (message: object) => expect((await raw(JSON.stringify(message))).json).to.have.property('result');
    await ok({ ...rpc('ping'), params: null, result: null, error: null });
    await ok(rpc('resources/list', { cursor: null, _meta: null }));
    await ok(rpc('ping', { _meta: { progressToken: null } }));
    await ok(rpc('tools/call', { name: TOOL, arguments: null }));
    await ok(rpc('tools/call', { name: TOOL, arguments: { query: null, fields: null } }));
    const capabilities = { roots: null, sampling: null };
    await ok(rpc('initialize', { ...CLIENT, protocolVersion: '2025-06-18', capabilities }));
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized', params: null };
    expect((await raw(JSON.stringify(notification))).status).to.equal(202);
  });

  it('does not stand for what is required', async () => {
    const errorOf = async (method: string, params: object) => (await earlier(method, params)).json.error.message;
    expect(await errorOf('tools/call', { name: null })).to.equal('params.name: Must be the name of a tool.');
    expect(await errorOf('initialize', { ...CLIENT, protocolVersion: '2025-06-18', capabilities: null })).to.equal(
      'params.capabilities: Is missing, or of another type.',
    );
  });
});

describe('an empty list', () => {
  it('stands for an object without members, as PHP writes it', async () => {
    const ok = async (message: object) => expect((await raw(JSON.stringify(message))).json).to.have.property('result');
    await ok(rpc('tools/list', []));
    await ok(rpc('tools/call', { name: TOOL, arguments: [], _meta: [] }));
    await ok(rpc('tools/call', { name: TOOL, arguments: { query: [] } }));
    await ok(rpc('initialize', { ...CLIENT, protocolVersion: '2025-06-18', capabilities: [] }));
  });
});

describe('the error of a message', () => {
  it('names the member at fault', async () => {
    for (const [message, words] of [
      [{ ...rpc('ping'), jsonrpc: '1.0' }, 'jsonrpc: Must be "2.0".'],
      [{ ...rpc('ping'), id: null }, 'id: Must be text or a whole number.'],
      [{ ...rpc('ping'), id: 1.5 }, 'id: Must be text or a whole number.'],
      [{ ...rpc('ping'), method: 7 }, 'method: Must be text.'],
      [{ ...rpc('ping'), params: [1] }, 'params: Must be an object.'],
      [rpc('ping', { _meta: 'a' }), 'params._meta: Must be an object.'],
      [rpc('tools/call', { name: TOOL, arguments: 'a' }), 'params.arguments: Must be an object.'],
      [
        rpc('initialize', { ...CLIENT, protocolVersion: '2025-06-18', clientInfo: { name: 'a' } }),
        'params.clientInfo: Is missing, or of another type.',
      ],
    ] as const) {
      expect((await raw(JSON.stringify(message))).json.error.message).to.equal(words);
    }
    const headers = { ...NO_HEADERS, protocolVersion: '2026-07-28', method: 'tools/list' };
    for (const key of ['clientInfo', 'clientCapabilities']) {
      const _meta = { ...ENVELOPE, [`io.modelcontextprotocol/${key}`]: 7 };
      const { json } = await raw(JSON.stringify(rpc('tools/list', { _meta })), { headers });
      expect(json.error.message).to.contain(`Missing or wrong: io.modelcontextprotocol/${key}.`);
    }
    const { json } = await current('subscriptions/listen', { notifications: { resourceSubscriptions: 'a' } });
    expect(json.error.message).to.equal('params.notifications.resourceSubscriptions: Must be a list of URIs.');
  });
});
