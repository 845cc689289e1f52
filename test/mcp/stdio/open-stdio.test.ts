import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { openStdio } from '../../../src/mcp/stdio/connection.ts';
import { RESOURCES } from '../../../src/resources/index.ts';
import { until } from '../../http/until.ts';
import { captureLog } from '../../observability/captured-log.ts';
import { callerWith } from '../../support/caller.ts';
import { cachedFor, catalogueOf, ENVELOPE, loadOf, NOW, type Read, type Reader, toolItem } from '../asked.ts';

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const TOOLS = 'platform://tools';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks into it knows itself.
type Message = any;

/** A connection whose other end is the test's. */
function connect(read: Reader = () => loadOf([toolItem('a')], cachedFor(5000))) {
  const input = new PassThrough();
  const output = new PassThrough();
  const log = captureLog();
  const reads: Read[] = [];
  const { requestId: _, ...caller } = callerWith();
  const connection = openStdio({
    catalogue: catalogueOf((one) => {
      reads.push(one);
      return read(one);
    }),
    resources: RESOURCES,
    tools: true,
    maxResultBytes: 65_536,
    maxBodyBytes: 4096,
    version: '1.2.3',
    now: () => NOW,
    caller,
    logger: log.logger,
    input,
    output,
  });
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const answers = (): Message[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  let id = 0;
  const write = (message: unknown) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  return {
    ...log,
    connection,
    input,
    output,
    reads,
    write,
    answers,
    /** The first `count` messages that came back. */
    async receive(count: number): Promise<Message[]> {
      await until(() => answers().length >= count);
      return answers();
    },
    async ask(method: string, params: object = {}): Promise<Message> {
      id += 1;
      const own = id;
      write({ jsonrpc: '2.0', id: own, method, params });
      await until(() => answers().some((answer) => answer.id === own));
      return answers().find((answer) => answer.id === own);
    },
  };
}

describe('MCP over stdio', () => {
  it('speaks the older era to a client that opens with it', async () => {
    const { ask } = connect();
    expect((await ask('initialize', INITIALIZE)).result).to.deep.include({
      protocolVersion: '2025-06-18',
      capabilities: { resources: {}, tools: {} },
    });
    expect((await ask('resources/list')).result.resources).to.have.length(3);
    const { result } = await ask('resources/read', { uri: TOOLS });
    expect(result).not.to.have.property('ttlMs');
    expect(result.contents[0].text).to.equal(loadOf([toolItem('a')]).snapshot.bytes.toString());
    expect((await ask('tools/call', { name: 'list_tools' })).result.structuredContent.total).to.equal(1);
    expect((await ask('resources/read', { uri: 'platform://nothing' })).error.code).to.equal(-32002);
  });

  it('speaks the newer era to a client that opens with that', async () => {
    const { ask } = connect();
    const _meta = ENVELOPE;
    expect((await ask('server/discover', { _meta })).result.supportedVersions).to.deep.equal(['2026-07-28']);
    const { result } = await ask('resources/read', { uri: TOOLS, _meta });
    expect(result).to.include({ ttlMs: 5000, cacheScope: 'private', resultType: 'complete' });
    expect((await ask('resources/read', { uri: 'platform://nothing', _meta })).error.code).to.equal(-32602);
    expect((await ask('initialize', INITIALIZE)).error.data.code).to.equal('version_unsupported');
  });

  it('falls back to the older era after a question for the newer', async () => {
    const { ask } = connect();
    expect((await ask('server/discover', { _meta: ENVELOPE })).result).to.have.property('supportedVersions');
    expect((await ask('initialize', INITIALIZE)).result.protocolVersion).to.equal('2025-06-18');
    expect((await ask('resources/read', { uri: 'platform://nothing' })).error.code).to.equal(-32002);
  });

  for (const [code, rpc] of [
    ['credential_rejected', 401],
    ['access_denied', 403],
  ] as const) {
    it(`has ${code} as an error of JSON-RPC, as a read and as a tool`, async () => {
      const { ask } = connect(() => {
        throw new GatewayError(code, { upstream: 'tools' });
      });
      await ask('initialize', INITIALIZE);
      for (const { error } of [
        await ask('resources/read', { uri: TOOLS }),
        await ask('tools/call', { name: 'list_tools' }),
      ]) {
        expect(error.code).to.equal(rpc);
        expect(error.data).to.include({ code, upstream: 'tools' });
        expect(error.data.requestId).to.match(/^[0-9a-f-]{36}$/);
      }
    });
  }

  it('gives each request an id and a line in the log, without the token', async () => {
    const { ask, access, text, reads } = connect();
    await ask('initialize', INITIALIZE);
    await ask('resources/read', { uri: TOOLS });
    const { error } = await ask('nothing');
    const lines = await access(3);
    expect(lines.map(({ rpc, outcome }) => [rpc, outcome])).to.deep.equal([
      ['initialize', 'ok'],
      ['resources/read', 'ok'],
      ['other', 'not_found'],
    ]);
    expect(lines[1]).to.include({ resource: 'tools', upstreamMs: 12, requestId: reads[0]?.caller.requestId });
    expect(lines[2]?.['requestId']).to.equal(error.data.requestId);
    expect(text()).not.to.contain('token-of-the-test');
  });

  it('logs a bug with its stack and without the token, and tells nothing of it', async () => {
    const { ask, lines, text } = connect(() => {
      throw new Error('saw token-of-the-test');
    });
    await ask('initialize', INITIALIZE);
    const { error } = await ask('resources/read', { uri: TOOLS });
    expect(error.data.code).to.equal('internal');
    expect(error.message).not.to.contain('saw');
    const bug = lines().find(({ msg }) => msg === 'internal error');
    expect(bug).to.include({ requestId: error.data.requestId });
    expect(bug?.['stack']).to.contain('saw [credential]');
    expect(text()).not.to.contain('token-of-the-test');
  });

  it('answers each line that is no message, and goes on', async () => {
    const { write, receive, ask } = connect();
    for (const line of ['nonsense', '[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '{}', '{"id":7}', '', ' \r']) {
      write(line);
    }
    write(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'x'.repeat(5000) } }));
    write({ jsonrpc: '2.0', id: 'a', method: 'initialize', params: {} });
    const answers = await receive(7);
    expect(answers.map(({ id, error }) => [id, error.data.code])).to.deep.equal([
      [null, 'parse_error'],
      [null, 'invalid_rpc'],
      [null, 'invalid_rpc'],
      [null, 'invalid_rpc'],
      [7, 'invalid_rpc'],
      [null, 'too_large'],
      ['a', 'invalid_params'],
    ]);
    expect((await ask('initialize', INITIALIZE)).result).to.have.property('serverInfo');
  });

  it('refuses an id that waits for its answer already', async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, write, receive } = connect(async () => {
      await gate.promise;
      return loadOf([]);
    });
    await ask('initialize', INITIALIZE);
    const read = { jsonrpc: '2.0', id: 'same', method: 'resources/read', params: { uri: TOOLS } };
    write(read);
    write(read);
    expect((await receive(2))[1]).to.have.nested.property('error.data.code', 'invalid_rpc');
    gate.resolve();
    expect((await receive(3))[2]).to.have.nested.property('result.contents');
  });

  it('ends the read that a client cancels, and says nothing more of it', async () => {
    const { ask, write, answers, reads, access } = connect(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    await ask('initialize', INITIALIZE);
    write({ jsonrpc: '2.0', id: 'long', method: 'resources/read', params: { uri: TOOLS } });
    await until(() => reads.length === 1);
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } });
    await until(() => reads[0]?.signal.aborted === true);
    expect((await access(2))[1]).to.include({ rpc: 'resources/read', outcome: 'cancelled' });
    expect(await ask('ping')).to.have.property('result');
    expect(answers()).to.have.length(2);
  });

  it('ends with its input, once what was asked for is answered', async () => {
    const { ask, write, input, connection, answers } = connect(async () => {
      await sleep(30);
      return loadOf([]);
    });
    await ask('initialize', INITIALIZE);
    write({ jsonrpc: '2.0', id: 'last', method: 'resources/read', params: { uri: TOOLS } });
    input.end();
    connection.drain(5000);
    expect(await connection.closed).to.equal(true);
    expect(answers().at(-1)).to.have.nested.property('result.contents');
  });

  it('ends with an input that asked nothing', async () => {
    const { input, connection } = connect();
    input.end();
    expect(await connection.closed).to.equal(true);
  });

  it('cuts what takes longer than the grace time', async () => {
    const { ask, write, connection, reads, access } = connect(() => new Promise(() => {}));
    await ask('initialize', INITIALIZE);
    write({ jsonrpc: '2.0', id: 'never', method: 'resources/read', params: { uri: TOOLS } });
    await until(() => reads.length === 1);
    connection.drain(20);
    expect(await connection.closed).to.equal(false);
    expect(reads[0]?.signal.aborted).to.equal(true);
    expect((await access(2))[1]).to.include({ outcome: 'cut' });
  });

  it('ends a subscription that it acknowledged when it is drained', async () => {
    const { write, receive, connection } = connect();
    write({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: { resourcesListChanged: true }, _meta: ENVELOPE },
    });
    const [acknowledged] = await receive(1);
    expect(acknowledged.params.notifications).to.deep.equal({});
    connection.drain(1000);
    expect((await receive(2))[1]).to.deep.include({ id: 'sub' });
    expect(await connection.closed).to.equal(true);
  });

  it('ends when nobody is there to answer', async () => {
    const { ask, output, connection } = connect();
    await ask('initialize', INITIALIZE);
    output.destroy(new Error('EPIPE'));
    expect(await connection.closed).to.be.a('boolean');
  });

  it('asks for no more questions while its answers are not read', async () => {
    const { input, output, write, ask } = connect(() => loadOf([toolItem('a', { description: 'x'.repeat(500_000) })]));
    await ask('initialize', INITIALIZE);
    output.removeAllListeners('data').pause();
    write({ jsonrpc: '2.0', id: 'big', method: 'resources/read', params: { uri: TOOLS } });
    await until(() => input.isPaused());
    output.resume();
    await until(() => !input.isPaused());
  });
});
