import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entry of the process, as npm scripts run it. */
export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** What a process left behind. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Portico process of a test. */
export interface PorticoProcess {
  readonly child: ChildProcess;
  /** Resolves with the base URL of the public listener once the log tells it; rejects when the process ends first. */
  readonly ready: Promise<string>;
  readonly ended: Promise<Ended>;
  /** Standard output so far. */
  stdout(): string;
  /** Sends SIGTERM, and resolves when the process is gone. */
  stop(): Promise<Ended>;
}

/**
 * Runs `portico`, from the sources unless `main` says otherwise, with nothing in its environment but PATH, what the
 * test run itself needs (coverage, and `NODE_OPTIONS` on a Node that warns of type stripping) and `env`.
 */
export function runPortico(args: readonly string[], env: Record<string, string> = {}, main = MAIN): PorticoProcess {
  const { PATH, NODE_V8_COVERAGE, NODE_OPTIONS } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH, NODE_V8_COVERAGE, NODE_OPTIONS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let announce: ((url: string) => void) | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    // Not once it is known: searching all of a long log again and again takes long.
    const url = announce && /"url":"([^"]+)"/.exec(stdout)?.[1];
    if (url === undefined) return;
    announce?.(url);
    announce = undefined;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const ready = new Promise<string>((resolve, reject) => {
    announce = resolve;
    void ended.then(({ code }) => reject(new Error(`the process ended with ${code}: ${stderr}`)));
  });
  ready.catch(() => {});
  return {
    child,
    ready,
    ended,
    stdout: () => stdout,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Runs `work` with a folder that is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a settings file and gives its path. */
export async function writeSettings(folder: string, yaml: string): Promise<string> {
  const file = join(folder, 'portico.yaml');
  await writeFile(file, yaml);
  return file;
}
