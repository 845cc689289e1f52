import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { defineCapability } from '../../../../src/capabilities/capability.ts';
import type { StreamBody } from '../../../../src/core/http/response/http-response.ts';
import { eventually } from '../../../support/eventually.ts';
import { settingsFor, startGateway } from '../../../support/gateway.ts';
import { get, openConnection, sendTo } from '../../../support/raw-http.ts';
import { captureLog } from '../../log/captured-log.ts';

const MIB = Buffer.alloc(1_048_576, 'x');

/** A gateway whose `/stream` sends this body. */
async function streaming(body: StreamBody, http: object = {}) {
  const log = captureLog();
  const bugs: string[] = [];
  const stream = defineCapability({
    open: () => ({
      listeners: [{ internalError: ({ stack }) => void bugs.push(stack) }],
      operations: () => [
        {
          ...{ path: '/stream', methods: ['GET'], auth: 'none' },
          respond: () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body }),
        },
      ],
    }),
  });
  const settings = settingsFor('http://127.0.0.1:9', { http, admin: { enabled: false } });
  return { log, bugs, ...(await startGateway(settings, { capabilities: [stream], logger: log.logger })) };
}

/** Asks for the stream, and reads none of it. */
function askWithoutReading(url: string) {
  const connection = openConnection(url);
  connection.socket.pause();
  connection.send(get('/stream'));
  return connection;
}

describe('a stream', () => {
  it('is sent piece by piece, and the connection is used again', async () => {
    const { promise: middle, resolve } = Promise.withResolvers<void>();
    const { url, log } = await streaming(async (write) => {
      await write(Buffer.from('one'));
      await middle;
      await write(Buffer.from('two'));
    });
    const connection = sendTo(url, get('/stream') + get('/livez'));
    await eventually(() => connection.unfinished().includes('one'));
    await sleep(50);
    expect(connection.unfinished().includes('two')).to.equal(false);
    resolve();
    const { headers, body } = await connection.receive();
    expect(headers.get('content-length')).to.equal(null);
    expect(body.toString()).to.equal('onetwo');
    expect((await connection.receive()).status).to.equal(200);
    expect((await log.access(1))[0]).to.include({ status: 200, outcome: 'ok', bytes: 6 });
  });

  it('is closed for a client that does not read, with one piece in memory', async () => {
    let pieces = 0;
    // The process has run other tests before.
    const before = process.memoryUsage().arrayBuffers;
    const { url, log } = await streaming(
      async (write) => {
        while (pieces < 1000) {
          pieces += 1;
          await write(MIB);
        }
      },
      { sendTimeoutMs: 300 },
    );
    askWithoutReading(url);
    const [line] = await log.access(1);
    expect(line).to.include({ status: 200, outcome: 'response_unread', bytes: 0 });
    // All but one of them have left the process.
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(100 * MIB.length);
  });

  it('delays no shutdown, even if its client does not read', async () => {
    const { url, gateway } = await streaming(async (write) => {
      for (;;) await write(MIB);
    });
    askWithoutReading(url);
    await sleep(300);
    const begun = performance.now();
    await gateway.close();
    expect(performance.now() - begun).to.be.lessThan(3000);
  });

  it('that fails is cut off, and the bug is reported', async () => {
    const { url, bugs, log } = await streaming(async (write) => {
      await write(Buffer.from('one'));
      throw new Error('a bug of the test');
    });
    const connection = sendTo(url, get('/stream'));
    expect((await connection.closed()).responses).to.deep.equal([]);
    expect(bugs[0]).to.contain('a bug of the test');
    expect((await log.access(1))[0]).to.include({ outcome: 'internal' });
  });

  it('whose client leaves while a piece is on its way is no bug', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const { url, bugs, log } = await streaming(async (write) => {
      await write(Buffer.from('one'));
      await gone;
      for (;;) await write(MIB);
    });
    const connection = sendTo(url, get('/stream'));
    await eventually(() => connection.unfinished().includes('one'));
    connection.socket.resetAndDestroy();
    // In the same turn of the event loop: the server does not see the reset before it writes.
    resolve();
    expect((await log.access(1))[0]).to.include({ status: 200, outcome: 'ok' });
    expect(bugs).to.deep.equal([]);
  });
});

describe('a hook that fails behind the response', () => {
  it('is a bug in the log, and the response arrives whole', async () => {
    const bugs: string[] = [];
    const failing = defineCapability({
      open: () => ({
        listeners: [{ internalError: ({ stack }) => void bugs.push(stack) }],
        onSettled() {
          throw new Error('a bug of the test');
        },
      }),
    });
    const { url } = await startGateway(settingsFor('http://127.0.0.1:9'), {
      capabilities: [failing],
      logger: captureLog().logger,
    });
    const { status } = await sendTo(url, get('/mcp/v1/resources')).receive();
    expect(status).to.equal(200);
    await eventually(() => bugs.length > 0);
    expect(bugs).to.have.length(1);
    expect(bugs[0]).to.contain('a bug of the test');
  });
});
