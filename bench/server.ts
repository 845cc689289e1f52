import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import type { Pinned } from './process.ts';
import type { Workshop } from './workshop.ts';

/** A server of the bench that listens. */
export interface Server extends Pinned {
  /** Without a trailing slash. */
  readonly url: string;
}

/** A file of this repository. */
export function ours(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** Runs a script of `bench/servers` with this Node on these cores, and resolves once it prints the address at which it listens. */
export async function serve(
  workshop: Workshop,
  cores: Cores,
  script: string,
  ...args: readonly string[]
): Promise<Server> {
  return listening(workshop.run(cores, process.execPath, [ours(`bench/servers/${script}`), ...args]));
}

/** Resolves once a process prints the address at which it listens. */
export async function listening(server: Pinned): Promise<Server> {
  const url = await new Promise<string>((resolve, reject) => {
    let head: string | undefined = '';
    server.onOutput((text) => {
      if (head === undefined) return;
      head += text;
      const found = /"url":"([^"]+)"/.exec(head)?.[1];
      if (found === undefined) return;
      head = undefined;
      resolve(found);
    });
    void server.ended.then(() => reject(new Error('a server ended before it listened')));
  });
  return { ...server, url };
}
