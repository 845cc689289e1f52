import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { sendMany } from '../../support/platform/many-requests.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { inFolder } from '../../support/process/process.ts';
import { startLoggingTo } from '../../support/process/serving.ts';
import { skipAloud } from '../../support/tools.ts';

/** Starts `portico` with its log on `path`. */
async function start(path: string) {
  const output = openSync(path, 'a');
  onCleanup(() => closeSync(output));
  return startLoggingTo(output);
}

/** How large a file of a process may become. Beyond that a write fails (EFBIG) as it does on a disk that is full. */
function bound(pid: string, bytes: number | 'unlimited'): boolean {
  return spawnSync('prlimit', ['--pid', pid, `--fsize=${bytes}:unlimited`]).status === 0;
}

describe('a log on a full disk', () => {
  it('does not stop responses or delay the exit', async () => {
    const { ask, child, ended } = await start('/dev/full');
    for (let count = 0; count < 20; count += 1) expect((await ask('/nowhere')).status).to.equal(404);
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });

  it('continues with whole lines once there is space, and logs how many were dropped', async function () {
    await inFolder(async (folder) => {
      const path = join(folder, 'log');
      const { ask, child, ended, port } = await start(path);
      const pid = String(child.pid);
      // In the middle of a line.
      if (!bound(pid, 5001)) skipAloud(this, 'prlimit cannot bound the files of a process here');
      const requests = 25_000;
      await sendMany(port, requests);
      expect((await readFile(path)).length).to.equal(5001);
      expect(bound(pid, 'unlimited')).to.equal(true);
      const lines = await eventually(async () => {
        const text = await readFile(path, 'utf8');
        return text.includes('"log lines dropped"') && text.endsWith('\n') && linesIn(text);
      });
      const written = lines.filter(({ msg }) => msg === 'request').length;
      const [{ lines: dropped }] = lines.filter(({ msg }) => msg === 'log lines dropped');
      expect(dropped).to.be.greaterThan(0);
      expect(written + dropped).to.equal(requests);
      await ask('/nowhere/again');
      child.kill('SIGTERM');
      expect(await ended).to.deep.equal([0, null]);
      const after = (await readFile(path, 'utf8')).trimEnd().split('\n').slice(lines.length);
      expect(after.map((line) => JSON.parse(line).msg)).to.deep.equal(['request', 'draining', 'drained']);
    });
  }).timeout(60_000);
});
