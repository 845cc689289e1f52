import { expect } from 'chai';
import { rpc } from '../../support/rpc.ts';
import { asked, CLIENT } from './asked.ts';

const { raw } = asked();
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
    await ok({ ...rpc('ping'), params: null });
    await ok(rpc('resources/list', { cursor: null, _meta: null }));
    await ok(rpc('ping', { _meta: { progressToken: null } }));
    await ok(rpc('tools/call', { name: TOOL, arguments: null }));
    await ok(rpc('tools/call', { name: TOOL, arguments: { query: null, fields: null } }));
    const capabilities = { roots: null, sampling: null };
    await ok(rpc('initialize', { ...CLIENT, protocolVersion: '2025-06-18', capabilities }));
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized', params: null };
    expect((await raw(JSON.stringify(notification))).status).to.equal(202);
  });
});
