import { expect } from 'chai';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import type { RawResponse } from '../../support/platform/raw-response.ts';
import { openConnection, requestText } from '../../support/raw-http.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

const post = (target: string, fields = {}) =>
  requestText('POST', target, { 'Content-Type': 'application/json', ...fields }, PING);

describe('POST /mcp', () => {
  let running: RunningGateway;

  before(async () => {
    running = await startGateway(settingsFor('http://127.0.0.1:1'));
  });

  /** Sends each request after the response to the one before. Returns the final responses. */
  async function responsesTo(count: number, ...requests: readonly string[]): Promise<RawResponse[]> {
    const connection = openConnection(running.url);
    const responses: RawResponse[] = [];
    for (const request of requests) {
      connection.send(request);
      if (requests.length > 1) responses.push(await connection.receive());
    }
    while (responses.length < count) {
      const response = await connection.receive();
      if (response.status >= 200) responses.push(response);
    }
    connection.socket.destroy();
    return responses;
  }

  it('answers further requests after a target in absolute form', async () => {
    const responses = await responsesTo(2, post('http://localhost/mcp'), post('/mcp'));
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('sends no interim response between head and body of the response before', async () => {
    const responses = await responsesTo(2, post('/mcp') + post('/mcp', { Expect: '100-continue' }));
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
    for (const { body } of responses) expect(JSON.parse(body.toString())).to.include({ id: 1 });
  });
});
