import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { listen } from '../../../../src/core/http/connection/listener.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { loadOf, manyTools } from '../../../support/platform/loads.ts';
import { newFolder } from '../../../support/process/process.ts';
import { exchange, get, sendTo } from '../../../support/raw-http.ts';
import { rejection } from '../../upstream/harness.ts';
import { expectNoUncaught, LIST, READ, serve } from '../served.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

async function codeOf(listening: Promise<unknown>): Promise<unknown> {
  return ((await rejection(listening)) as NodeJS.ErrnoException).code;
}

function server(): Server {
  const created = createServer();
  onCleanup(() => created.close());
  return created;
}

describe('listening', () => {
  let socketPath: string;

  beforeEach(async () => {
    socketPath = join(await newFolder(), 'portico.sock');
  });

  it("on a port in use or an unknown address rejects with Node's own error", async () => {
    const url = await listen(server(), LOOPBACK);
    expect(await codeOf(listen(server(), { ...LOOPBACK, port: Number(new URL(url).port) }))).to.equal('EADDRINUSE');
    expect(await codeOf(listen(server(), { ...LOOPBACK, host: '192.0.2.1' }))).to.equal('EADDRNOTAVAIL');
  });

  /** Runs a process that listens on the socket, and then does this. */
  async function startListening(options: object, then = ''): Promise<ChildProcess> {
    const script = `require('node:net').createServer().listen(${JSON.stringify({ ...options, path: socketPath })}, () => {
      require('node:fs').writeSync(1, 'up');
      ${then}
    })`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    onCleanup(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  }

  it('on a Unix socket of a busy process rejects, and leaves the file', async () => {
    await startListening({ backlog: 1 }, 'for (;;);');
    // Until there is no room for one more.
    for (let error: unknown; error === undefined; ) {
      const socket = connect(socketPath);
      onCleanup(() => socket.destroy());
      error = await once(socket, 'connect').then(
        () => undefined,
        (reason) => reason,
      );
    }
    expect(await codeOf(listen(server(), { ...LOOPBACK, socketPath }))).to.equal('EADDRINUSE');
    expect(existsSync(socketPath)).to.equal(true);
  });

  it('replaces a Unix socket that a dead process left', async () => {
    const child = await startListening({});
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(existsSync(socketPath)).to.equal(true);
    const { url } = await serve({ socketPath });
    expect((await exchange(url, get(LIST))).status).to.equal(200);
  });

  it('never replaces a file that is not a socket', async () => {
    await writeFile(socketPath, 'another file');
    expect(await codeOf(listen(server(), { ...LOOPBACK, socketPath }))).to.equal('EADDRINUSE');
    expect(await readFile(socketPath, 'utf8')).to.equal('another file');
  });
});

describe('a connection', () => {
  expectNoUncaught();

  for (const [less, more] of [
    ['headersTimeoutMs', 'requestTimeoutMs'],
    ['requestTimeoutMs', 'headersTimeoutMs'],
  ] as const) {
    it(`gets a 408 for headers that do not end within ${less}, if that is less than ${more}`, async () => {
      const { url, ended } = await serve({ [less]: 100, [more]: 60_000 });
      const connection = sendTo(url, 'GET / HTTP/1.1\r\nHost: localhost\r\n');
      expect((await connection.closed()).responses.map(({ status }) => status)).to.deep.equal([408]);
      expect((await ended(1))[0]).to.include({ status: 408, outcome: 'request_timeout', route: 'unmatched' });
    });
  }

  it('is closed if the client does not read its response', async () => {
    const load = loadOf(manyTools(100_000));
    const { url, ended } = await serve({ read: () => load, readDeadlineMs: 100, sendTimeoutMs: 150 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    onCleanup(() => socket.destroy());
    socket.write(get(READ));
    expect((await ended(1))[0]).to.include({ outcome: 'caller_gone', status: 200, bytes: 0, upstreamMs: 12.34 });
  });

  it('stays open if the client reads slowly', async () => {
    const load = loadOf(manyTools(40_000));
    const { url, ended } = await serve({ read: () => load, readDeadlineMs: 500, sendTimeoutMs: 500 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onCleanup(() => socket.destroy());
    socket.write(get(READ, { Connection: 'close' }));
    // Longer than the timeout in all, and a good deal less between two pieces.
    socket.on('data', async () => {
      socket.pause();
      await sleep(20);
      socket.resume();
    });
    await once(socket, 'end');
    expect(socket.bytesRead).to.be.above(load.snapshot.bytes.length);
    expect((await ended(1))[0]).to.include({ outcome: 'ok', bytes: load.snapshot.bytes.length });
  });
});

describe('a request for another protocol', () => {
  it('is answered in HTTP/1.1, and closes the connection: Node drops what is behind it in the same packet', async () => {
    const { url } = await serve();
    for (const fields of [
      { Connection: 'Upgrade', Upgrade: 'websocket' },
      { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQAAP__' },
    ]) {
      const { responses, rest } = await sendTo(url, get(LIST, fields) + get(READ)).closed();
      expect(responses.map(({ status, headers }) => [status, headers.get('connection')])).to.deep.equal([
        [200, 'close'],
      ]);
      expect(rest).to.have.length(0);
    }
  });
});
