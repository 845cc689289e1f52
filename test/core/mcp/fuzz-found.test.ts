import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { openConnection, requestText } from '../../support/raw-http.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

const post = (target: string, fields = {}) =>
  requestText('POST', target, { 'Content-Type': 'application/json', ...fields }, PING);

describe('POST /mcp', () => {
  it('answers further requests after a target in absolute form', async () => {
    const { url } = await startGateway(settingsFor('http://127.0.0.1:1'));
    const { send, receive } = openConnection(url);
    for (const target of ['http://localhost/mcp', '/mcp']) {
      send(post(target));
      expect((await receive()).status).to.equal(200);
    }
  });

  it('sends no interim response between head and body of the response before', async () => {
    const { url } = await startGateway(settingsFor('http://127.0.0.1:1'));
    const { send, receive } = openConnection(url);
    send(post('/mcp') + post('/mcp', { Expect: '100-continue' }));
    for (let responses = 0; responses < 2; ) {
      const { status, json } = await receive();
      if (status < 200) continue;
      expect([status, json().id]).to.deep.equal([200, 1]);
      responses += 1;
    }
  });
});
