import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listen } from '../../src/http/listen.ts';
import { closeAll, LIST, serve } from './served.ts';
import { ask, get } from './wire.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** The code of the error with which listening ends. */
async function codeOf(listening: Promise<unknown>): Promise<unknown> {
  const error: NodeJS.ErrnoException = await listening.then(
    () => expect.fail('it listens'),
    (reason) => reason,
  );
  return error.code;
}

describe('listening', () => {
  const servers: Server[] = [];
  let folder: string;
  let socketPath: string;

  function server(): Server {
    const created = createServer();
    servers.push(created);
    return created;
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portico-'));
    socketPath = join(folder, 'portico.sock');
  });

  afterEach(async () => {
    await closeAll();
    for (const one of servers.splice(0)) one.close();
    await rm(folder, { recursive: true });
  });

  it('on a TCP port gives its URL', async () => {
    expect(await listen(server(), LOOPBACK)).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  });

  it("on a port in use, or where there is no such address, fails with Node's own error", async () => {
    const url = await listen(server(), LOOPBACK);
    expect(await codeOf(listen(server(), { ...LOOPBACK, port: Number(new URL(url).port) }))).to.equal('EADDRINUSE');
    expect(await codeOf(listen(server(), { ...LOOPBACK, host: '192.0.2.1' }))).to.equal('EADDRNOTAVAIL');
  });

  it('on a Unix socket answers there, for any host, and removes the file in the end', async () => {
    const { url, server: http } = await serve({ socketPath });
    expect(url).to.equal(`unix:${socketPath}`);
    expect((await ask(url, get(LIST, { Host: 'anything' }))).status).to.equal(200);
    await http.drain(0);
    expect(await exists(socketPath)).to.equal(false);
  });

  it('on a Unix socket that somebody listens on fails, and leaves it', async () => {
    await serve({ socketPath });
    expect(await codeOf(listen(server(), { ...LOOPBACK, socketPath }))).to.equal('EADDRINUSE');
    expect((await ask(`unix:${socketPath}`, get(LIST))).status).to.equal(200);
  });

  it('on a Unix socket that a dead process left behind replaces it', async () => {
    const script = `require('node:net').createServer().listen(${JSON.stringify(socketPath)}, () => console.log('up'))`;
    const child: ChildProcess = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await exists(socketPath)).to.equal(true);
    const { url } = await serve({ socketPath });
    expect((await ask(url, get(LIST))).status).to.equal(200);
  });

  it('never replaces what is no socket', async () => {
    await writeFile(socketPath, 'somebody’s');
    expect(await codeOf(listen(server(), { ...LOOPBACK, socketPath }))).to.equal('EADDRINUSE');
    expect(await readFile(socketPath, 'utf8')).to.equal('somebody’s');
  });

  it('on a Unix socket in a folder that is not there fails', async () => {
    expect(await codeOf(listen(server(), { ...LOOPBACK, socketPath: join(folder, 'none', 'x.sock') }))).to.equal(
      'EACCES',
    );
  });
});
