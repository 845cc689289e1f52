import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { closeAll, createPatience, LIST, loadOf, manyItems, READ, serve } from './served.ts';
import { until } from './until.ts';
import { ask, get, openWire } from './wire.ts';

afterEach(closeAll);

describe('a connection', () => {
  it('is kept for further requests', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    for (let count = 1; count <= 3; count += 1) {
      wire.write(get(LIST));
      expect((await wire.receive(count)).at(-1)?.status).to.equal(200);
    }
    wire.socket.destroy();
  });

  it('is not kept longer than keepAliveTimeoutMs after its last answer', async () => {
    const { url } = await serve({ keepAliveTimeoutMs: 50 });
    const wire = openWire(url);
    wire.write(get(LIST));
    expect(await wire.closed()).to.have.length(1);
  });

  it('closes where the client asks for that', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST, { Connection: 'close' }));
    expect((await wire.closed())[0]?.headers.get('connection')).to.equal('close');
  });

  it('answers pipelined requests in order, whichever is done first', async () => {
    const { read, release } = createPatience();
    const { url, reads, access } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ) + get('/nothing') + get(LIST) + get(READ));
    await until(() => reads.length === 2);
    expect(wire.answers()).to.deep.equal([]);
    release(loadOf([{ id: 'first' }]));
    release(loadOf([{ id: 'second' }]));
    const answers = await wire.receive(4);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 404, 200, 200]);
    expect([answers[0], answers[3]].map((answer) => answer?.body.toString())).to.deep.equal([
      '[{"id":"first"}]',
      '[{"id":"second"}]',
    ]);
    expect((await access(4)).map(({ outcome }) => outcome)).to.have.members(['ok', 'not_found', 'ok', 'ok']);
    wire.socket.destroy();
  });

  it('that ends with pipelined requests in flight ends all of them, each with its line', async () => {
    const { read } = createPatience();
    const { url, reads, access } = await serve({ read });
    const wire = openWire(url);
    wire.write(get(READ) + get(LIST) + get(READ));
    await until(() => reads.length === 2);
    wire.socket.resetAndDestroy();
    expect((await access(3)).map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill('caller_gone'));
    expect(reads.map(({ signal }) => signal.aborted)).to.deep.equal([true, true]);
  });

  it('takes requests that arrive byte by byte', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    for (const byte of get(LIST)) {
      wire.write(byte);
      if (byte === '\r') await sleep(1);
    }
    expect((await wire.receive(1))[0]?.status).to.equal(200);
    wire.socket.destroy();
  });

  it('is not taken beyond maxConnections, which the log tells', async () => {
    const { url, lines } = await serve({ maxConnections: 2 });
    const kept = [openWire(url), openWire(url)];
    for (const wire of kept) {
      wire.write(get(LIST));
      await wire.receive(1);
    }
    for (let count = 0; count < 3; count += 1) expect(await openWire(url).closed()).to.deep.equal([]);
    expect(lines().filter(({ msg }) => msg === 'connections refused')).to.have.length(1);
    kept[0]?.socket.destroy();
    await until(() => kept[0]?.socket.closed === true);
    kept[1]?.write(get(LIST));
    await kept[1]?.receive(2);
    expect((await ask(url, get(LIST))).status).to.equal(200);
    kept[1]?.socket.destroy();
  });

  it('is cut where the client leaves its answer unread', async () => {
    const load = loadOf(manyItems(300_000));
    const { url, access } = await serve({ read: () => load, readDeadlineMs: 100, sendTimeoutMs: 150 });
    const wire = openWire(url);
    wire.socket.pause();
    wire.write(get(READ));
    expect((await access(1))[0]).to.include({ outcome: 'caller_gone', status: 200, bytes: 0, upstreamMs: 12.3 });
  });

  it('is not cut where the client reads slowly, or a read takes its time', async () => {
    const load = loadOf(manyItems(100_000));
    const { url, access } = await serve({
      read: async () => {
        await sleep(150);
        return load;
      },
      readDeadlineMs: 200,
      sendTimeoutMs: 50,
    });
    const wire = openWire(url);
    wire.write(get(READ));
    wire.socket.pause();
    for (let pauses = 0; pauses < 10; pauses += 1) {
      await sleep(40);
      wire.socket.resume();
      await sleep(1);
      wire.socket.pause();
    }
    wire.socket.resume();
    expect((await wire.receive(1))[0]?.body.length).to.equal(load.snapshot.bytes.length);
    expect((await access(1))[0]).to.include({ outcome: 'ok', bytes: load.snapshot.bytes.length });
    wire.socket.destroy();
  });
});

describe('an expectation', () => {
  it('of 100-continue gets no interim answer where there is no body to send', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST, { Expect: '100-continue' }));
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200]);
  });

  it('of anything else is not minded', async () => {
    const { url } = await serve();
    expect((await ask(url, get(LIST, { Expect: 'miracles' }))).status).to.equal(200);
  });
});

describe('an upgrade', () => {
  it('is not made: the request is answered as any other', async () => {
    const { url } = await serve();
    for (const upgrade of ['websocket', 'h2c']) {
      const { status, headers } = await ask(
        url,
        get(LIST, { Connection: 'Upgrade, HTTP2-Settings', Upgrade: upgrade }),
      );
      expect(status).to.equal(200);
      expect(headers.has('upgrade')).to.equal(false);
    }
  });
});
