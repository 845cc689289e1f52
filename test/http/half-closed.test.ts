import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { closeAll, createPatience, LIST, READ, serve } from './served.ts';
import { until } from './until.ts';
import { get, openWire } from './wire.ts';

describe('a caller that has ended its side', () => {
  afterEach(closeAll);

  it('gets an answer that is at hand, and nothing else', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.socket.end(get(LIST));
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200]);
  });

  it('gets an answer that takes its time, after interim ones', async () => {
    const { read, release } = createPatience();
    const { url, access } = await serve({ read });
    const wire = openWire(url);
    wire.socket.end(get(READ));
    await until(() => wire.answers().length >= 2);
    release();
    const statuses = (await wire.closed()).map(({ status }) => status);
    expect(statuses.at(-1)).to.equal(200);
    expect(new Set(statuses.slice(0, -1))).to.deep.equal(new Set([102]));
    expect((await access(1))[0]).to.include({ outcome: 'ok' });
  });

  it('gets all answers to what it pipelined', async () => {
    const { read, release } = createPatience();
    const { url, reads } = await serve({ read });
    const wire = openWire(url);
    wire.socket.end(get(LIST) + get(READ) + get(READ));
    await until(() => reads.length === 2 && wire.answers().some(({ status }) => status === 102));
    release();
    release();
    const statuses = (await wire.closed()).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 102)).to.deep.equal([200, 200, 200]);
  });

  it('gets no interim answers in HTTP/1.0, which knows none', async () => {
    const { read, release } = createPatience();
    const { url } = await serve({ read });
    const wire = openWire(url);
    wire.socket.end(get(READ).replace('HTTP/1.1', 'HTTP/1.0'));
    await sleep(200);
    release();
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200]);
  });

  it('because it is gone has its read aborted', async () => {
    const { read } = createPatience();
    const { url, reads, access } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ));
    await until(() => reads.length === 1);
    // What a process that ends, or an aborted fetch, does: on the wire it is no more than an end.
    wire.socket.destroy();
    expect((await access(1))[0])
      .to.include({ outcome: 'caller_gone' })
      .and.not.have.property('status');
    expect(reads[0]?.signal.aborted).to.equal(true);
  });

  it('because it is gone has its read aborted on a Unix socket as well', async () => {
    const { read } = createPatience();
    const socketPath = `/tmp/portico-${process.pid}-half-closed.sock`;
    const { url, reads, access } = await serve({ read, socketPath });
    const wire = openWire(url);
    wire.write(get(READ));
    await until(() => reads.length === 1);
    wire.socket.destroy();
    expect((await access(1))[0]).to.include({ outcome: 'caller_gone' });
  });

  it('after its answers leaves nothing behind', async () => {
    const { url, server } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST));
    await wire.receive(1);
    wire.socket.end();
    await wire.closed();
    expect(await server.drain(5000)).to.equal(true);
  });
});
