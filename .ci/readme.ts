/**
 * Runs the commands of README.md as they stand there, in the copy of the repository that the first argument names.
 *
 * Every ```sh block is run line by line, from top to bottom. A line that starts a server is left running until
 * another server or an installation needs its place; then it gets SIGTERM and must end with 0. A ```yaml block whose
 * first line is a comment with a file name is written to that file. Ports are free ones, so that nothing else on the
 * machine is in the way.
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
// curl says what README has it say, but ends with an error where the answer is one.
writeFileSync(join(folder, '.curlrc'), 'fail\nsilent\nshow-error\n');
const env = { ...process.env, PORT: String(port), ADMIN_PORT: String(adminPort), CURL_HOME: folder };

function start(line: string): ChildProcess {
  process.stdout.write(`\n$ ${line}\n`);
  const atFreePorts = line.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`).replaceAll(':9090', `:${adminPort}`);
  return spawn('bash', ['-c', atFreePorts], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
}

async function run(line: string): Promise<void> {
  const [code] = await once(start(line), 'exit');
  if (code !== 0) throw new Error(`ended with ${code}: ${line}`);
}

async function untilReady({ line, child }: Server): Promise<void> {
  const until = Date.now() + READY_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before it was ready: ${line}`);
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

/** Ends the process at the bottom, below bash and npm, and expects all of them to end well. */
async function stop({ line, child }: Server): Promise<void> {
  const [bottom] = descendants(child.pid ?? 0).slice(-1);
  if (bottom === undefined) throw new Error(`ended by itself: ${line}`);
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_MS) });
  process.kill(bottom, 'SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`ended with ${code} after SIGTERM: ${line}`);
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
    return undefined; // gone since the folder was read
  }
}

/** Writes the settings that README shows, listening where this run wants it: README's own are the defaults. */
function writeSettings(text: string): void {
  const [, name] = /^# (\S+\.yaml)\n/.exec(text) ?? [];
  if (name === undefined) return;
  writeFileSync(join(folder, name), `${text}\nhttp: { port: ${port} }\nadmin: { port: ${adminPort} }\n`);
}

function commands(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '');
}

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
