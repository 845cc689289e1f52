import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { traceOperations } from '../../../../src/capabilities/tracing/operation-span.ts';
import { createTracer, type Tracer } from '../../../../src/capabilities/tracing/tracer.ts';
import type { RequestRecord } from '../../../../src/core/kernel/caller.ts';
import { createLines, type StdioOptions } from '../../../../src/core/mcp/stdio/open-stdio.ts';
import type { CatalogueRead, Reader } from '../../../support/catalogue.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { NAMES } from '../../../support/resources.ts';
import { type AskedOptions, CLIENT, cachedFor, ENVELOPE, loadOf } from '../asked.ts';
import { connectStdio } from './connected.ts';

const INITIALIZE = { ...CLIENT, protocolVersion: '2025-06-18' };
const TOOLS = 'platform://tools';

interface ConnectOptions extends Partial<Pick<StdioOptions, 'graceMs' | 'maxMessageValues'>> {
  readonly tracing?: Tracer;
}

/** A connection that records what is read and what happens. */
function connect(
  read: Reader = () => loadOf([toolItem('a')], cachedFor(5000)),
  { tracing, ...options }: ConnectOptions = {},
) {
  const reads: CatalogueRead[] = [];
  const records: RequestRecord[] = [];
  const asked: AskedOptions = {
    read(one) {
      reads.push(one);
      return read(one);
    },
    events: { requestEnded: (record) => records.push(record) },
    ...(tracing && { wrapDispatch: traceOperations(tracing) }),
  };
  return { ...connectStdio(asked, options), reads, records };
}

const timersLeft = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('MCP over stdio', () => {
  it('speaks an earlier revision to a client that begins with it', async () => {
    const { ask } = connect();
    expect((await ask('initialize', INITIALIZE)).result).to.deep.include({
      protocolVersion: '2025-06-18',
      capabilities: { resources: {}, tools: {} },
    });
    expect((await ask('resources/list')).result.resources).to.have.length(NAMES.length);
    const { result } = await ask('resources/read', { uri: TOOLS });
    expect(result).not.to.have.property('ttlMs');
    expect(result.contents[0].text).to.equal(loadOf([toolItem('a')]).snapshot.bytes.toString());
    expect((await ask('tools/call', { name: 'list_installed_tools' })).result.structuredContent.total).to.equal(1);
    expect((await ask('resources/read', { uri: 'platform://nothing' })).error.code).to.equal(-32002);
  });

  it('speaks 2026-07-28 to a client that begins with that', async () => {
    const { ask } = connect();
    const _meta = ENVELOPE;
    expect((await ask('server/discover', { _meta })).result.supportedVersions).to.deep.equal(['2026-07-28']);
    const { result } = await ask('resources/read', { uri: TOOLS, _meta });
    expect(result).to.include({ ttlMs: 5000, cacheScope: 'private', resultType: 'complete' });
    expect((await ask('resources/read', { uri: 'platform://nothing', _meta })).error.code).to.equal(-32602);
    expect((await ask('initialize', INITIALIZE)).error.data.code).to.equal('version_unsupported');
  });

  it('falls back to an earlier revision after a question for what there is', async () => {
    const { ask } = connect();
    expect((await ask('server/discover', { _meta: ENVELOPE })).result).to.have.property('supportedVersions');
    expect((await ask('initialize', INITIALIZE)).result.protocolVersion).to.equal('2025-06-18');
    expect((await ask('resources/read', { uri: 'platform://nothing' })).error.code).to.equal(-32002);
  });

  it('gives each request its own id and record', async () => {
    const { ask, records, reads } = connect();
    await ask('initialize', INITIALIZE);
    const { result } = await ask('resources/read', { uri: TOOLS });
    const { error } = await ask('nothing');
    expect(records.map(({ edge, rpc, outcome }) => [edge, rpc, outcome])).to.deep.equal([
      ['stdio', 'initialize', 'ok'],
      ['stdio', 'resources/read', 'ok'],
      ['stdio', 'other', 'not_found'],
    ]);
    expect(records[1]).to.include({
      resource: 'tools',
      upstreamMs: 12,
      cache: 'hit',
      callerKey: 'key of token-of-the-test',
    });
    expect(records[1]).to.include({ requestId: reads[0]?.caller.requestId });
    expect(records[1]?.bytes).to.equal(JSON.stringify({ result, jsonrpc: '2.0', id: 2 }).length);
    expect(records[2]?.requestId).to.equal(error.data.requestId);
    expect(records[2]?.error?.code).to.equal('not_found');
  });

  it('records the trace that a request starts', async () => {
    const tracing = createTracer(
      {
        ...{ enabled: true, endpoint: 'http://127.0.0.1:9/v1/traces', headers: {}, sampleRatio: 1 },
        ...{ serviceName: 'portico', timeoutMs: 100, intervalMs: 60_000, maxQueueSpans: 10 },
      },
      {},
    );
    onCleanup(() => tracing.close(0));
    const { ask, records } = connect(undefined, { tracing });
    await ask('ping');
    await ask('ping');
    const [one, other] = records.map(({ traceId }) => traceId);
    expect(one).to.match(/^[0-9a-f]{32}$/);
    expect(other)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.to.equal(one);
  });

  it('rejects a message with more than maxMessageValues, and continues', async () => {
    const { write, receive, ask } = connect(undefined, { maxMessageValues: 20 });
    write(`{"jsonrpc":"2.0","id":"wide","method":"ping","params":{"a":[${'0,'.repeat(20)}0]}}`);
    expect((await receive(1))[0]).to.have.nested.property('error.data.code', 'too_large');
    expect((await ask('initialize', INITIALIZE)).result).to.have.property('serverInfo');
  });

  it('answers each line that is not a message with an error, and continues', async () => {
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

  it('rejects the id of a pending request', async () => {
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

  it('aborts a read that the client cancels, without a response', async () => {
    const { ask, write, answers, reads, records } = connect(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    await ask('initialize', INITIALIZE);
    write({ jsonrpc: '2.0', id: 'long', method: 'resources/read', params: { uri: TOOLS } });
    await eventually(() => reads.length === 1);
    const aborted = reads[0]?.signal;
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } });
    await eventually(() => aborted?.aborted === true);
    expect(records[1]).to.include({ rpc: 'resources/read', outcome: 'cancelled' });
    expect(await ask('ping')).to.have.property('result');
    expect(answers()).to.have.length(2);
  });

  it('sends no response to a cancelled read that finishes later', async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, write, answers, reads, records } = connect(async () => {
      await gate.promise;
      return loadOf([]);
    });
    write({ jsonrpc: '2.0', id: 'long', method: 'resources/read', params: { uri: TOOLS } });
    await eventually(() => reads.length === 1);
    const read = performance.now();
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } });
    await eventually(() => records.length === 1);
    const cancelled = performance.now();
    gate.resolve();
    // All that follows from it happens before.
    await turn();
    await ask('ping');
    expect(answers().map(({ id }) => id)).to.deep.equal([1]);
    expect(records.map(({ outcome }) => outcome)).to.deep.equal(['cancelled', 'ok']);
    expect((records[0]?.begun ?? 0) + (records[0]?.ms ?? 0)).to.be.within(read, cancelled);
  });

  it('closes after the end of its input, when all requests are answered', async () => {
    const gates: Record<string, PromiseWithResolvers<void>> = {
      tools: Promise.withResolvers(),
      workflows: Promise.withResolvers(),
    };
    const { write, input, connection, reads, receive, answers, records } = connect(async ({ name }) => {
      await gates[name]?.promise;
      return loadOf([]);
    });
    let isClosed = false;
    connection.closed.then(() => {
      isClosed = true;
    });
    for (const name of ['tools', 'workflows']) {
      write({ jsonrpc: '2.0', id: name, method: 'resources/read', params: { uri: `platform://${name}` } });
    }
    input.end();
    await eventually(() => reads.length === 2 && input.isPaused());
    expect(answers()).to.deep.equal([]);
    gates['workflows']?.resolve();
    await receive(1);
    expect(isClosed).to.equal(false);
    gates['tools']?.resolve();
    expect(await connection.closed).to.equal(true);
    expect(answers().map(({ id }) => id)).to.deep.equal(['workflows', 'tools']);
    for (const answer of answers()) expect(answer).to.have.nested.property('result.contents');
    expect(records.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok']);
  });

  it('closes at the end of its input, without a timer left', async () => {
    const { ask, input, connection } = connect();
    await ask('initialize', INITIALIZE);
    const timers = timersLeft();
    input.end();
    expect(await connection.closed).to.equal(true);
    expect(timersLeft()).to.equal(timers);
  });

  for (const [what, endIt] of [
    ['its input ended', ({ input }: ReturnType<typeof connect>) => input.end()],
    ['it was told to', ({ connection }: ReturnType<typeof connect>) => connection.drain()],
  ] as const) {
    it(`aborts requests after the grace time once ${what}`, async () => {
      const opened = connect(({ name }) => (name === 'tools' ? new Promise(() => {}) : loadOf([])), { graceMs: 20 });
      const { ask, write, connection, reads, answers, records } = opened;
      await ask('initialize', INITIALIZE);
      write({ jsonrpc: '2.0', id: 'never', method: 'resources/read', params: { uri: TOOLS } });
      write({ jsonrpc: '2.0', id: 'read', method: 'resources/read', params: { uri: 'platform://projects' } });
      await eventually(() => reads.length === 2);
      const { signal } = reads[0] ?? {};
      expect(signal?.aborted).to.equal(false);
      endIt(opened);
      expect(await connection.closed).to.equal(false);
      expect(signal?.aborted).to.equal(true);
      expect(answers().map(({ id }) => id)).to.deep.equal([1, 'read']);
      expect(records[2]).to.include({ rpc: 'resources/read', resource: 'tools', outcome: 'cut' });
    });
  }

  it('closes when its output closes', async () => {
    for (const open of [0, 1]) {
      const { ask, write, reads, input, output, connection } = connect(() => new Promise(() => {}));
      await ask('initialize', INITIALIZE);
      if (open === 1) write({ jsonrpc: '2.0', id: 'a', method: 'resources/read', params: { uri: TOOLS } });
      await eventually(() => reads.length === open);
      output.destroy(new Error('EPIPE'));
      expect(await connection.closed).to.equal(open === 0);
      // Nothing is left that would keep the process.
      const timers = timersLeft();
      input.destroy();
      connection.drain();
      await eventually(() => input.closed);
      expect(timersLeft()).to.equal(timers);
    }
  });

  describe('with a client that does not read', () => {
    /** One that has been sent more than the stream takes, and read none of it. */
    async function stall(graceMs = 5000) {
      const big = loadOf([toolItem('a', { description: 'x'.repeat(500_000) })]);
      const stalled = connect(() => big, { graceMs });
      await stalled.ask('initialize', INITIALIZE);
      stalled.output.removeAllListeners('data').pause();
      stalled.write({ jsonrpc: '2.0', id: 'big', method: 'resources/read', params: { uri: TOOLS } });
      await eventually(() => stalled.output.writableNeedDrain);
      return stalled;
    }
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });

    it('pauses its input until the client reads', async () => {
      const { input, output, write, records } = await stall();
      for (let id = 10; !input.isPaused(); id += 1) {
        write(ping(id));
        await new Promise(setImmediate);
        expect(id).to.be.lessThan(200);
      }
      expect(records.map(({ rpc }) => rpc)).to.deep.equal(['initialize', 'resources/read']);
      let text = '';
      output.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      output.resume();
      await eventually(() => !input.isPaused() && records.length > 50);
      const ids = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
      expect(ids.slice(1)).to.deep.equal(ids.slice(1).map((_, index) => 10 + index));
    });

    it('closes after the grace time at the end of its input', async () => {
      const { input, write, connection } = await stall(20);
      write(ping(10));
      input.end();
      expect(await connection.closed).to.equal(false);
    });

    it('closes as soon as the client has read everything after the end of its input', async () => {
      const { input, output, write, connection, records } = await stall(20_000);
      write(ping(10));
      input.end();
      await eventually(() => input.readableEnded);
      output.resume();
      expect(await connection.closed).to.equal(true);
      expect(records.map(({ rpc }) => rpc)).to.deep.equal(['initialize', 'resources/read', 'ping']);
    });
  });
});

const MAX_LINE = 8;

/** What comes of chunks: lines, and `null` for one that was too long. */
function cut(chunks: readonly Buffer[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const take = createLines(MAX_LINE, (line) => lines.push(Buffer.isBuffer(line) ? line.toString() : null));
  for (const chunk of chunks) take(chunk);
  return lines;
}

describe('lines of a stream', () => {
  it('are complete lines, in whatever pieces they arrive', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', ' ', '\r'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), line, (written, cuts, rest) => {
        const bytes = Buffer.from(written.map((one) => `${one}\n`).join('') + rest);
        const edges = [0, ...cuts.filter((edge) => edge < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        const expected = written.map((one) => (Buffer.byteLength(one) > MAX_LINE ? null : one));
        if (Buffer.byteLength(rest) > MAX_LINE) expected.push(null);
        expect(cut(chunks)).to.deep.equal(expected);
      }),
    );
  });

  it('that are too long are reported once, immediately, and are not kept in memory', () => {
    const long = Buffer.alloc(MAX_LINE, 'x');
    expect(cut([long])).to.deep.equal([]);
    expect(cut([long, long, long, Buffer.from('\nb\n')])).to.deep.equal([null, 'b']);
  });
});
