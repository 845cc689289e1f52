import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAdminServer } from '../../src/http/admin-server.ts';
import { captureLog } from '../observability/captured-log.ts';
import { closeAll, createPatience, LIST, loadOf, manyItems, READ, type Served, serve } from './served.ts';
import { until } from './until.ts';
import { ask, get, openWire, type Wire } from './wire.ts';

/** Longer than a test may take: what waits for it to pass fails. */
const GRACE_MS = 60_000;

/** A connection that has been used, and is kept. */
async function keptWire({ url }: Served): Promise<Wire> {
  const wire = openWire(url);
  wire.write(get(LIST));
  await wire.receive(1);
  return wire;
}

/** A connection with a read in flight. */
async function readingWire({ url, reads }: Served): Promise<Wire> {
  const before = reads.length;
  const wire = openWire(url);
  wire.write(get(READ));
  await until(() => reads.length > before);
  return wire;
}

describe('draining', () => {
  afterEach(closeAll);

  it('closes idle connections at once, used or not, and takes no new ones', async () => {
    const served = await serve();
    const kept = await keptWire(served);
    const silent = openWire(served.url);
    await until(() => silent.socket.readyState === 'open');
    await sleep(20);
    expect(await served.server.drain(GRACE_MS)).to.equal(true);
    expect(await kept.closed()).to.have.length(1);
    expect(await silent.closed()).to.have.length(0);
    const late = openWire(served.url);
    await late.closed();
    expect(late.socket.errored).to.include({ code: 'ECONNREFUSED' });
    expect(served.server.isDraining()).to.equal(true);
  });

  it('lets what is in flight finish, and closes its connection with it', async () => {
    const { read, release } = createPatience();
    const served = await serve({ read });
    const wire = await readingWire(served);
    const drained = served.server.drain(GRACE_MS);
    await sleep(30);
    expect(wire.answers()).to.deep.equal([]);
    release();
    const [answer] = await wire.closed();
    expect(answer?.status).to.equal(200);
    expect(answer?.headers.get('connection')).to.equal('close');
    expect(await drained).to.equal(true);
    expect((await served.access(1))[0]).to.include({ outcome: 'ok' });
  });

  it('refuses a further request behind one in flight, after that one', async () => {
    const { read, release } = createPatience();
    const served = await serve({ read });
    const wire = await readingWire(served);
    const drained = served.server.drain(GRACE_MS);
    await sleep(30);
    wire.write(get(READ));
    await sleep(30);
    release();
    const [first, second] = await wire.closed();
    expect(first?.status).to.equal(200);
    expect(first?.headers.get('connection')).to.equal('keep-alive');
    expect(second?.status).to.equal(503);
    expect(second?.headers.get('connection')).to.equal('close');
    expect(second?.headers.get('retry-after')).to.equal('1');
    expect(JSON.parse(String(second?.body))).to.include({ code: 'draining' });
    expect(await drained).to.equal(true);
    expect(served.reads).to.have.length(1);
  });

  it('answers all that was pipelined before', async () => {
    const { read, release } = createPatience();
    const served = await serve({ read });
    const wire = openWire(served.url);
    wire.write(get(READ) + get(READ) + get(LIST));
    await until(() => served.reads.length === 2);
    const drained = served.server.drain(GRACE_MS);
    await sleep(30);
    release();
    release();
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(await drained).to.equal(true);
  });

  it('refuses, but does not reset, a request that was on its way', async () => {
    const served = await serve();
    const [whole, half, probe] = [await keptWire(served), await keptWire(served), await keptWire(served)];
    half.write('GET /mcp/v1/resources HTTP/1.1\r\n');
    probe.write('GET /livez HTTP/1.1\r\n');
    await sleep(20);
    whole.write(get(LIST));
    const drained = served.server.drain(GRACE_MS);
    await sleep(20);
    half.write('Host: localhost\r\n\r\n');
    probe.write('\r\n');
    for (const wire of [whole, half]) {
      const answer = (await wire.closed())[1];
      expect(answer?.status).to.equal(503);
      expect(answer?.headers.get('connection')).to.equal('close');
    }
    expect((await probe.closed())[1]?.status).to.equal(200);
    expect(await drained).to.equal(true);
  });

  it('does not cut an answer that is being read', async () => {
    const load = loadOf(manyItems(300_000));
    const served = await serve({ read: () => load });
    const wire = openWire(served.url);
    wire.socket.pause();
    wire.write(get(READ));
    await until(() => served.reads.length === 1);
    await sleep(50);
    const drained = served.server.drain(GRACE_MS);
    await sleep(50);
    wire.socket.resume();
    expect((await wire.closed())[0]?.body.length).to.equal(load.snapshot.bytes.length);
    expect(await drained).to.equal(true);
  });

  it('cuts what outlasts the grace time, aborts its read, and says so', async () => {
    const { read } = createPatience();
    const served = await serve({ read });
    const wire = await readingWire(served);
    expect(await served.server.drain(50)).to.equal(false);
    expect(await wire.closed()).to.deep.equal([]);
    expect(served.reads[0]?.signal.aborted).to.equal(true);
    expect((await served.access(1))[0])
      .to.include({ outcome: 'draining', bytes: 0 })
      .and.not.have.property('status');
  });

  it('cuts a request that never arrives whole, and has lost nothing then', async () => {
    const served = await serve();
    const wire = openWire(served.url);
    wire.write('GET / HTTP/1.1\r\n');
    await sleep(20);
    expect(await served.server.drain(50)).to.equal(true);
    expect(await wire.closed()).to.deep.equal([]);
  });

  it('ends an answer to a bad request properly', async () => {
    const served = await serve();
    const wire = openWire(served.url);
    wire.write('garbage\r\n\r\n');
    await wire.receive(1);
    expect(await served.server.drain(GRACE_MS)).to.equal(true);
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([400]);
  });

  it('may be announced first: all is answered as ever, and only /readyz says no', async () => {
    const served = await serve();
    const wire = await keptWire(served);
    served.server.markDraining();
    wire.write(get(LIST) + get('/readyz') + get('/livez'));
    const answers = await wire.receive(4);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 503, 200]);
    expect(answers.map(({ headers }) => headers.get('connection'))).to.deep.equal(Array(4).fill('keep-alive'));
    expect((await ask(served.url, get(LIST))).status).to.equal(200);
    expect(await served.server.drain(GRACE_MS)).to.equal(true);
  });

  it('may be done before anything listens', async () => {
    const admin = createAdminServer({
      settings: { host: '127.0.0.1', port: 0 },
      logger: captureLog().logger,
      isDraining: () => false,
    });
    expect(await admin.drain(GRACE_MS)).to.equal(true);
  });

  it('may be done twice', async () => {
    const { read, release } = createPatience();
    const served = await serve({ read });
    await readingWire(served);
    const twice = [served.server.drain(GRACE_MS), served.server.drain(GRACE_MS)];
    await sleep(20);
    release();
    expect(await Promise.all(twice)).to.deep.equal([true, true]);
    expect(await served.server.drain(GRACE_MS)).to.equal(true);
  });
});

describe('an error after the answer was made', () => {
  afterEach(closeAll);

  it('is logged as a bug, and answered somehow', async () => {
    const odd: Record<string, unknown> = { length: 1 };
    odd['round'] = odd;
    const load = loadOf([]);
    const served = await serve({
      read: () => ({ ...load, snapshot: { ...load.snapshot, bytes: odd as unknown as Buffer } }),
      answerAhead: false,
    });
    expect((await ask(served.url, get(READ))).status).to.equal(500);
    expect(served.lines().find(({ level }) => level === 'error')?.['stack']).to.match(
      /^TypeError: Converting circular/,
    );
  });

  it('is logged as a bug, and cuts the answer off where that was sent ahead of the layers', async () => {
    const load = loadOf([]);
    const served = await serve({
      read: () => ({ ...load, snapshot: { ...load.snapshot, bytes: [{ length: 1 }] as unknown as Buffer } }),
      answerAhead: true,
    });
    const asking = ask(served.url, get(READ)).then(
      () => 'answered',
      () => 'cut off',
    );
    expect(await asking).to.equal('cut off');
    expect(served.lines().find(({ level }) => level === 'error')?.['stack']).to.match(/^TypeError/);
    expect((await served.access(1))[0]).to.include({ outcome: 'internal', bytes: 0 });
  });
});
