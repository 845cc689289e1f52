import { expect } from 'chai';
import { openWire, type WireAnswer } from '../http/wire.ts';
import { type RunningGateway, settingsFor, startGateway } from '../support/gateway.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

function post(target: string, body = PING, fields = ''): string {
  const own = `Host: localhost\r\nAuthorization: Bearer token-of-the-test\r\nContent-Type: application/json\r\n${fields}`;
  return `POST ${target} HTTP/1.1\r\n${own}Content-Length: ${body.length}\r\n\r\n${body}`;
}

describe('POST /mcp', () => {
  let running: RunningGateway;

  before(async () => {
    running = await startGateway(settingsFor('http://127.0.0.1:1'));
  });

  after(() => running.gateway.close());

  async function answersTo(count: number, ...requests: readonly string[]): Promise<WireAnswer[]> {
    const wire = openWire(running.url);
    for (const [index, request] of requests.entries()) {
      wire.write(request);
      if (requests.length > 1) await wire.receive(index + 1);
    }
    const answers = await wire.receive(count);
    wire.socket.destroy();
    return answers;
  }

  it('goes on answering on a connection after a target in absolute form', async () => {
    const answers = await answersTo(2, post('http://localhost/mcp'), post('/mcp'));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('writes nothing between head and body of an answer that waits for the one before it', async () => {
    const answers = await answersTo(2, post('/mcp') + post('/mcp', PING, 'Expect: 100-continue\r\n'));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    for (const { body } of answers) expect(JSON.parse(body.toString())).to.include({ id: 1 });
  });

  it('answers a sound request before it refuses what comes behind it and is none', async () => {
    const answers = await answersTo(2, `${post('/mcp')}no request\r\n\r\n`);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 400]);
  });
});
