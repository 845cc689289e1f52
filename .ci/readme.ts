/**
 * Runs the commands of README.md in the copy of the repository that the first argument names.
 *
 * Runs every ```sh block line by line, from top to bottom. A line that starts a server keeps running until another server
 * or an installation needs its place; then it gets SIGTERM and must exit with 0. Writes a ```yaml block whose first line
 * is a comment with a file name to that file. Uses free ports. The test command is left out:
 * it is a step of `.ci/run`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/listening.ts';

const READY_MS = 600_000;
const STOP_MS = 30_000;

interface Server {
  readonly line: string;
  readonly child: ChildProcess;
}

const [folder = '.'] = process.argv.slice(2);
const [port, adminPort] = [await freePort(), await freePort()];
// Makes curl exit with an error on an HTTP error status.
writeFileSync(join(folder, '.curlrc'), 'fail\nsilent\nshow-error\n');
const env = {
  ...process.env,
  PORT: String(port),
  ADMIN_PORT: String(adminPort),
  CURL_HOME: folder,
};

function start(line: string): ChildProcess {
  process.stdout.write(`\n$ ${line}\n`);
  const atFreePorts = line.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`).replaceAll(':9090', `:${adminPort}`);
  return spawn('bash', ['-c', atFreePorts], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function run(line: string): Promise<void> {
  const [code] = await once(start(line), 'exit');
  if (code !== 0) throw new Error(`exit code ${code}: ${line}`);
}

async function untilReady({ line, child }: Server): Promise<void> {
  const until = Date.now() + READY_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`exit code ${child.exitCode} before it was ready: ${line}`);
    if (Date.now() > until) throw new Error(`never became ready: ${line}`);
    await sleep(200);
  }
}

async function isReady(): Promise<boolean> {
  const answers = [port, adminPort].map((each) => fetch(`http://127.0.0.1:${each}/readyz`));
  return Promise.all(answers).then(
    (all) => all.every((answer) => answer.ok),
    () => false,
  );
}

/** Sends SIGTERM to the process below bash and npm, and expects all of them to exit with 0. */
async function stop({ line, child }: Server): Promise<void> {
  const [bottom] = descendants(child.pid ?? 0).slice(-1);
  if (bottom === undefined) throw new Error(`exited too early: ${line}`);
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_MS) });
  process.kill(bottom, 'SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`exit code ${code} after SIGTERM: ${line}`);
}

/** The process, its child, its child's child, and so on. */
function descendants(pid: number): number[] {
  const child = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => parentOf(name) === pid);
  return child === undefined ? [pid] : [pid, ...descendants(Number(child))];
}

/** `/proc/<pid>/stat` is `pid (name) state parent …`, and a name may hold anything. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // exited since the folder was read
  }
}

/** Writes the settings that README shows, with the ports of this run. */
function writeSettings(text: string): void {
  const [, name] = /^# (\S+\.yaml)\n/.exec(text) ?? [];
  if (name === undefined) return;
  writeFileSync(join(folder, name), `${text}\nhttp: { port: ${port} }\nadmin: { port: ${adminPort} }\n`);
}

function commands(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && line !== TESTS);
}

/** An earlier step of `.ci/run` has run it. */
const TESTS = 'npm ci && npm test';
const STARTS_A_SERVER = /npm (start|run demo)\b/;
const NEEDS_THE_FOLDER = /npm (ci|start)\b/;

const markdown = readFileSync(join(folder, 'README.md'), 'utf8');
let server: Server | undefined;
let count = 0;
try {
  for (const [, language, text = ''] of markdown.matchAll(/^```(sh|yaml)\n(.*?)^```$/gms)) {
    if (language === 'yaml') writeSettings(text);
    for (const line of language === 'sh' ? commands(text) : []) {
      if (server !== undefined && NEEDS_THE_FOLDER.test(line)) {
        await stop(server);
        server = undefined;
      }
      if (STARTS_A_SERVER.test(line)) {
        server = { line, child: start(line) };
        await untilReady(server);
      } else {
        await run(line);
      }
      count += 1;
    }
  }
  if (server !== undefined) await stop(server);
  server = undefined;
} finally {
  if (server?.child.exitCode === null)
    for (const pid of descendants(server.child.pid ?? 0)) process.kill(pid, 'SIGKILL');
}
if (count === 0) throw new Error('README.md has no command');
process.stdout.write(`\n${count} commands of README.md ran\n`);
