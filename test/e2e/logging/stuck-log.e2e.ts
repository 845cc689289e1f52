import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { newFolder } from '../../support/process/process.ts';
import { startLoggingTo } from '../../support/process/serving.ts';
import { get, openConnection } from '../../support/raw-http.ts';
import { skipAloud } from '../../support/tools.ts';

/** More lines than are held, with ids as long as they may be. */
const REQUESTS = 17_000;
const ID = { 'X-Request-Id': 'x'.repeat(128) };
const BATCH = 500;

/** Asks for what is not there, over one connection: each request makes a line in the log. */
async function sendMany(port: number): Promise<void> {
  const { send, receive, socket } = openConnection(`http://127.0.0.1:${port}`);
  for (let sent = 0; sent < REQUESTS; sent += BATCH) {
    send(get('/nowhere', ID).repeat(BATCH));
    for (let received = 0; received < BATCH; received += 1) await receive();
  }
  socket.destroy();
}

/** Starts `portico` with its log on `path`. */
async function startLoggingInto(path: string) {
  const output = openSync(path, 'a');
  onCleanup(() => closeSync(output));
  return startLoggingTo(output);
}

/** How large a file of a process may become. Beyond that a write fails (EFBIG) as it does on a disk that is full. */
function bound(pid: string, bytes: number | 'unlimited'): boolean {
  return spawnSync('prlimit', ['--pid', pid, `--fsize=${bytes}:unlimited`]).status === 0;
}

describe('a log that cannot be written', function () {
  this.timeout(180_000);

  it('does not stop responses or delay the exit, on a full disk', async () => {
    const { ask, child, ended } = await startLoggingInto('/dev/full');
    for (let count = 0; count < 20; count += 1) expect((await ask('/nowhere')).status).to.equal(404);
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });

  it('continues with whole lines once there is space, and logs how many were dropped', async function () {
    const path = join(await newFolder(), 'log');
    const { child, ended, port } = await startLoggingInto(path);
    const pid = String(child.pid);
    // In the middle of a line.
    if (!bound(pid, 5001)) skipAloud(this, 'prlimit cannot bound the files of a process here');
    await sendMany(port);
    expect((await readFile(path)).length).to.equal(5001);
    expect(bound(pid, 'unlimited')).to.equal(true);
    const lines = await eventually(async () => {
      const text = await readFile(path, 'utf8');
      return text.includes('"log lines dropped"') && text.endsWith('\n') && linesIn(text);
    });
    const written = lines.filter(({ msg }) => msg === 'request').length;
    const [{ lines: dropped }] = lines.filter(({ msg }) => msg === 'log lines dropped');
    expect(dropped).to.be.greaterThan(0);
    expect(written + dropped).to.equal(REQUESTS);
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    const after = linesIn(await readFile(path, 'utf8')).slice(lines.length);
    expect(after.map(({ msg }) => msg)).to.deep.equal(['draining', 'drained']);
  });

  it('drops lines at its bound where nobody reads it, logs and counts how many, and does not stop responses', async () => {
    const { child, ended, port, adminUrl, ask } = await startLoggingTo('pipe');
    const stdout = child.stdout ?? expect.fail();
    await sendMany(port);
    expect((await ask('/livez')).status).to.equal(200);
    // What PorticoLogLinesDropped asks for.
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(Number(/^portico_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])).to.be.greaterThan(0);
    let text = '';
    stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    // Read as far as it goes: what is held at the end has half a second, and no slow reader.
    await eventually(() => text.includes('"log lines dropped"'));
    child.kill('SIGTERM');
    await once(stdout, 'end');
    expect(await ended).to.deep.equal([0, null]);
    const lines = linesIn(text);
    const written = lines.filter(({ route }) => route === 'unmatched').length;
    const dropped = lines.reduce((sum, { msg, lines: count }) => sum + (msg === 'log lines dropped' ? count : 0), 0);
    // The lines of the shutdown and of the scrape may be among them.
    expect(written + dropped).to.be.within(REQUESTS, REQUESTS + 3);
  });
});
