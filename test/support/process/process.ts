import { type ChildProcess, type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onCleanup } from '../cleanup.ts';

/** The entry of the process, as npm scripts run it. */
export const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child process of a test. It is killed with the test where it is still there then. */
export interface RunningProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the process is gone and all that it wrote is here. */
  readonly ended: Promise<Ended>;
  stdout(): string;
  /** The same, which is then forgotten: of a long run it is more than a string holds. */
  takeStdout(): string;
  stderr(): string;
  /** Sends SIGTERM, or another signal, and resolves when the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

const alive = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Sees to it that a child does not outlive the test that started it, or this process. */
export function endWithTest(child: ChildProcess): void {
  alive.add(child);
  const gone = once(child, 'exit').catch(() => {}); // It may never have begun.
  const ended = onCleanup(() => {
    child.kill('SIGKILL');
    return gone;
  });
  void gone.then(() => {
    alive.delete(child);
    ended();
  });
}

interface ProcessOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid' | 'timeout' | 'detached'> {
  /** Whether more may be written to its standard input, or that has ended from the beginning. @default 'ended' */
  readonly stdin?: 'open' | 'ended';
}

export function startProcess(
  command: string,
  args: readonly string[],
  { stdin = 'ended', ...options }: ProcessOptions = {},
): RunningProcess {
  const child = spawn(command, args, { ...options, stdio: 'pipe' });
  endWithTest(child);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  // Whoever writes to a process that is gone learns that from its end.
  child.stdin.on('error', () => {});
  if (stdin === 'ended') child.stdin.end();
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...written }));
  });
  ended.catch(() => {});
  return {
    child,
    ended,
    stdout: () => written.stdout,
    takeStdout() {
      const { stdout } = written;
      written.stdout = '';
      return stdout;
    },
    stderr: () => written.stderr,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

export interface PorticoProcess extends RunningProcess {
  /** Resolves with the base URL of the public listener once it is logged; rejects if the process exits first. */
  readonly ready: Promise<string>;
}

/**
 * The environment of a Portico process: nothing but PATH, what the test run itself needs (coverage, what is
 * compiled already, and `NODE_OPTIONS` on a Node that warns of type stripping) and `more`.
 */
export function porticoEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH, NODE_V8_COVERAGE, NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  const given = Object.entries({ PATH, NODE_V8_COVERAGE, NODE_COMPILE_CACHE, NODE_OPTIONS });
  return {
    ...Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    ...more,
  };
}

/** Runs `portico`, by default from the sources, in this environment. */
export function runPortico(args: readonly string[], env: Record<string, string> = {}, main = MAIN): PorticoProcess {
  return startPortico(process.execPath, [main, ...args], porticoEnvironment(env));
}

/** Runs `portico stdio` by a settings file, in such an environment. More may be written to its standard input. */
export function runStdio(file: string, env: Record<string, string> = {}): RunningProcess {
  return startProcess(process.execPath, [MAIN, 'stdio', file], { env: porticoEnvironment(env), stdin: 'open' });
}

/** Starts a command that is, or runs, `portico`. */
export function startPortico(command: string, args: readonly string[], env: Record<string, string>): PorticoProcess {
  const running = startProcess(command, args, { env });
  const ready = new Promise<string>((resolve, reject) => {
    running.child.stdout.on('data', function find() {
      const url = /"url":"([^"]+)"/.exec(running.stdout())?.[1];
      if (url === undefined) return;
      // Not once it is known: searching all of a long log again and again takes long.
      running.child.stdout.off('data', find);
      resolve(url);
    });
    running.ended.then(({ code, stderr }) => reject(new Error(`the process ended with ${code}: ${stderr}`)), reject);
  });
  ready.catch(() => {});
  return { ...running, ready };
}

/** A folder that is gone with the test, or the suite, that asked for it. */
export async function newFolder(name = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `portico-${name}`));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeSettings(folder: string, yaml: string): Promise<string> {
  const file = join(folder, 'portico.yaml');
  await writeFile(file, yaml);
  return file;
}

/** Writes settings into a file that is gone with the test, or the suite, and gives its path. */
export async function settingsFile(yaml: string): Promise<string> {
  return writeSettings(await newFolder(), yaml);
}
