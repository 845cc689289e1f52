import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import type { StdioOptions } from '../../../src/core/mcp/open-stdio.ts';
import { type CatalogueRead, createHeldReads, type Reader } from '../../support/catalogue.ts';
import { eventually } from '../../support/eventually.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { rpc } from '../../support/rpc.ts';
import { type AskedOptions, CLIENT, cachedFor, loadOf } from './asked.ts';
import { connectStdio } from './connected.ts';

const INITIALIZE = { ...CLIENT, protocolVersion: '2025-06-18' };
const readOf = (name: string, id = name) => rpc('resources/read', { uri: `platform://${name}` }, id);

type ConnectOptions = Partial<Pick<StdioOptions, 'graceMs' | 'maxMessageValues' | 'wrapDispatch'>>;

/** A connection that records what is read and what happens. */
function connect(read: Reader = () => loadOf([toolItem('a')], cachedFor(5000)), options: ConnectOptions = {}) {
  const reads: CatalogueRead[] = [];
  const records: RequestRecord[] = [];
  const asked: AskedOptions = {
    read(one) {
      reads.push(one);
      return read(one);
    },
    events: { requestEnded: (record) => records.push(record) },
  };
  return { ...connectStdio(asked, options), reads, records };
}

const timersLeft = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

// What each revision answers is compared with the SDK in differential.test.ts.
describe('MCP over stdio', () => {
  it('answers each line that is not a message, or has too many values, with an error, and continues', async () => {
    const { write, receive, ask } = connect(undefined, { maxMessageValues: 20 });
    for (const line of ['nonsense', '[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '{}', '{"id":7}', '', ' \r']) {
      write(line);
    }
    write(rpc('ping', { a: 'x'.repeat(5000) }));
    write(rpc('ping', { a: Array(20).fill(0) }, 'wide'));
    write(rpc('initialize', {}, 'a'));
    const answers = await receive(8);
    expect(answers.map(({ id, error }) => [id, error.data.code])).to.deep.equal([
      [null, 'parse_error'],
      ...Array(3).fill([null, 'invalid_rpc']),
      [7, 'invalid_rpc'],
      ...Array(2).fill([null, 'too_large']),
      ['a', 'invalid_params'],
    ]);
    expect((await ask('initialize', INITIALIZE)).result).to.have.property('serverInfo');
  });

  it('rejects the id of a pending request', async () => {
    const { read, release } = createHeldReads();
    const { ask, write, receive } = connect(read);
    await ask('initialize', INITIALIZE);
    write(readOf('tools', 'same'));
    write(readOf('tools', 'same'));
    expect((await receive(2))[1]).to.have.nested.property('error.data.code', 'invalid_rpc');
    release();
    expect((await receive(3))[2]).to.have.nested.property('result.contents');
  });

  it('aborts a read that the client cancels, and sends no response even if it finishes', async () => {
    const gate = Promise.withResolvers<void>();
    const { ask, write, answers, reads, records } = connect(async () => {
      await gate.promise;
      return loadOf([]);
    });
    write(readOf('tools'));
    await eventually(() => reads.length === 1);
    const signal = reads[0]?.signal;
    const read = performance.now();
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'tools' } });
    await eventually(() => records.length === 1);
    const cancelled = performance.now();
    expect(signal?.aborted).to.equal(true);
    gate.resolve();
    // All that follows from it happens before.
    await turn();
    await ask('ping');
    expect(answers().map(({ id }) => id)).to.deep.equal([1]);
    expect(records.map(({ rpc, outcome }) => [rpc, outcome])).to.deep.equal([
      ['resources/read', 'cancelled'],
      ['ping', 'ok'],
    ]);
    expect((records[0]?.startedAt ?? 0) + (records[0]?.ms ?? 0)).to.be.within(read, cancelled);
  });

  it('closes after the end of its input, when all requests are answered', async () => {
    const { read, release, waiting } = createHeldReads();
    const { write, input, connection, receive, answers, records } = connect(read);
    let isClosed = false;
    connection.closed.then(() => {
      isClosed = true;
    });
    for (const name of ['tools', 'workflows']) write(readOf(name));
    input.end();
    await eventually(() => waiting() === 2 && input.readableEnded);
    expect(answers()).to.deep.equal([]);
    release();
    await receive(1);
    expect(isClosed).to.equal(false);
    const timers = timersLeft();
    release();
    expect(await connection.closed).to.equal(true);
    expect(timersLeft()).to.be.at.most(timers);
    expect(answers().map(({ id, result }) => [id, result.contents.length])).to.deep.equal([
      ['tools', 1],
      ['workflows', 1],
    ]);
    expect(records.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok']);
  });

  it('closes at once when it is told to drain after the end of its input, or twice', async () => {
    for (const end of [
      ({ input }: ReturnType<typeof connect>) => input.end(),
      ({ connection }: ReturnType<typeof connect>) => connection.drain(),
    ]) {
      const opened = connect(() => new Promise(() => {}), { graceMs: 60_000 });
      const { write, reads, input, connection, records } = opened;
      write(readOf('tools'));
      await eventually(() => reads.length === 1);
      end(opened);
      await eventually(() => input.destroyed);
      connection.drain();
      expect(await connection.closed).to.equal(false);
      expect(reads[0]?.signal.aborted).to.equal(true);
      expect(records.map(({ outcome }) => outcome)).to.deep.equal(['cut']);
    }
  });

  it('does not answer a response, also where its id is null', async () => {
    const { write, answers, ask, records } = connect();
    for (const id of [null, 1]) {
      write({ jsonrpc: '2.0', id, error: { code: -32700, message: 'Parse error' } });
      write({ jsonrpc: '2.0', id, error: { code: -32700, message: 'Parse error', data: { id } } });
    }
    write({ jsonrpc: '2.0', id: 1, result: {} });
    await ask('ping');
    expect(answers()).to.have.length(1);
    expect(records).to.have.length(1);
  });

  for (const [what, endIt] of [
    ['its input ended', ({ input }: ReturnType<typeof connect>) => input.end()],
    ['it was told to', ({ connection }: ReturnType<typeof connect>) => connection.drain()],
  ] as const) {
    it(`aborts requests after the grace time once ${what}`, async () => {
      const opened = connect(({ name }) => (name === 'tools' ? new Promise(() => {}) : loadOf([])), { graceMs: 20 });
      const { ask, write, connection, reads, answers, records } = opened;
      await ask('initialize', INITIALIZE);
      write(readOf('tools', 'never'));
      write(readOf('projects', 'read'));
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

  describe('with a client that does not read', () => {
    /** One that has been sent more than the stream takes, and read none of it. */
    async function stall(graceMs = 5000) {
      const big = loadOf([toolItem('a', { description: 'x'.repeat(500_000) })]);
      const stalled = connect(() => big, { graceMs });
      await stalled.ask('initialize', INITIALIZE);
      stalled.output.removeAllListeners('data').pause();
      stalled.write(readOf('tools'));
      await eventually(() => stalled.output.writableNeedDrain);
      return stalled;
    }
    const ping = (id: number) => rpc('ping', {}, id);

    it('answers nothing more until the client reads', async () => {
      const { output, write, records } = await stall();
      for (let id = 10; id < 70; id += 1) write(ping(id));
      for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
      expect(records.map(({ rpc }) => rpc)).to.deep.equal(['initialize', 'resources/read']);
      let text = '';
      output.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      output.resume();
      await eventually(() => records.length === 62);
      const ids = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
      expect(ids.slice(1)).to.deep.equal(ids.slice(1).map((_, index) => 10 + index));
    });

    it('closes soon after SIGTERM, before SIGKILL, where the grace time is long', async () => {
      // Longer than a test may take.
      const { connection } = await stall(120_000);
      connection.drain();
      expect(await connection.closed).to.equal(false);
    });
  });
});
