import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A server of the bench, alone on its core. */
export interface Pinned {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Runs a script of this repository on one core, and resolves once it prints the address at which it listens. */
export function pin(core: number, script: string, args: readonly string[] = []): Promise<Pinned> {
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const child = spawn('taskset', ['-c', String(core), process.execPath, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return new Promise((resolve, reject) => {
    let head = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      // Once the address is known the rest is read and forgotten, so that an access log costs what it costs.
      if (head === '') {
        const url = /"url":"([^"]+)"/.exec(text)?.[1];
        if (url === undefined) return;
        head = url;
        const stop = () => {
          child.kill('SIGTERM');
          return ended;
        };
        resolve({ url, pid: child.pid ?? 0, stop });
      }
    });
    void ended.then(() => reject(new Error(`${script} ended before it listened`)));
  });
}

/** Whether a command can be run here. */
export function has(command: string): boolean {
  return spawnSync(command, ['--version']).error === undefined;
}
