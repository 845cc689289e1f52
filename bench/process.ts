import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import type { Cores } from './cores.ts';

/** Debian keeps nginx where only root's PATH leads. */
const PATH = [process.env['PATH'], '/usr/sbin', '/usr/local/sbin'].join(':');

/** How long a process may take to end when it is asked to. */
const GRACE_MS = 10_000;

/** A process of the bench. */
export interface Pinned {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Standard output, a piece at a time, from the beginning. It is read to its end, with or without a listener. */
  onOutput(listener: (text: string) => void): void;
  readonly ended: Promise<void>;
  /** Asks it to end, and resolves once it has. One that does not is killed. */
  stop(): Promise<void>;
}

/** Runs a command on these cores. Its standard error is that of the bench. */
export function pin(
  cores: Cores,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Pinned {
  const child = spawn('taskset', ['-c', cores, command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PATH, ...environment },
  });
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
  child.stdout.setEncoding('utf8').resume();
  return {
    child,
    pid: child.pid ?? 0,
    onOutput: (listener) => void child.stdout.on('data', listener),
    ended,
    async stop() {
      child.kill('SIGTERM');
      child.kill('SIGCONT'); // A stopped process ends once it continues.
      const late = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Whether a command can be run here. */
export function has(command: string): boolean {
  return spawnSync(command, ['--version'], { env: { ...process.env, PATH } }).error === undefined;
}
