import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/listening.ts';
import { sendMany } from '../../support/platform/many-requests.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { endWithTest, inFolder, MAIN, porticoEnvironment, writeSettings } from '../../support/process/process.ts';
import { skipAloud } from '../../support/tools.ts';

const settings = (port: number) => `
http: { port: ${port} }
admin: { enabled: false }
upstreams:
  projects: { baseUrl: http://127.0.0.1:9 }
  workflows: { baseUrl: http://127.0.0.1:9 }
  tools: { baseUrl: http://127.0.0.1:9 }
`;

/** Starts `portico` with its log on `path`. */
async function start(folder: string, path: string) {
  const port = await freePort();
  const file = await writeSettings(folder, settings(port));
  const output = openSync(path, 'a');
  onCleanup(() => closeSync(output));
  const child = spawn(process.execPath, [MAIN, '--config', file], {
    env: porticoEnvironment(),
    stdio: ['ignore', output, 'inherit'],
  });
  endWithTest(child);
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await eventually(() =>
    fetch(`${url}/livez`).then(
      () => true,
      () => false,
    ),
  );
  return { port, pid: `${child.pid}`, ended, ask: (path: string) => fetch(`${url}${path}`), child };
}

/** How large a file of a process may become. Beyond that a write fails (EFBIG) as it does on a disk that is full. */
function bound(pid: string, bytes: number | 'unlimited'): boolean {
  return spawnSync('prlimit', ['--pid', pid, `--fsize=${bytes}:unlimited`]).status === 0;
}

describe('a log on a full disk', () => {
  it('does not stop responses or delay the exit', async () => {
    await inFolder(async (folder) => {
      const { ask, child, ended } = await start(folder, '/dev/full');
      for (let count = 0; count < 20; count += 1) expect((await ask('/nowhere')).status).to.equal(404);
      child.kill('SIGTERM');
      expect(await ended).to.deep.equal([0, null]);
    });
  });

  it('continues with whole lines once there is space, and logs how many were dropped', async function () {
    await inFolder(async (folder) => {
      const path = join(folder, 'log');
      const { ask, child, ended, pid, port } = await start(folder, path);
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
