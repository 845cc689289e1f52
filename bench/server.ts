import { fileURLToPath } from 'node:url';
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

/** Runs a script of `bench/servers` with this Node on one core, and resolves once it prints the address at which it listens. */
export async function serve(
  workshop: Workshop,
  core: number,
  script: string,
  ...args: readonly string[]
): Promise<Server> {
  const server = workshop.run(core, process.execPath, [ours(`bench/servers/${script}`), ...args]);
  const url = await new Promise<string>((resolve, reject) => {
    let head = '';
    server.onOutput((text) => {
      head += text;
      const found = /"url":"([^"]+)"/.exec(head)?.[1];
      if (found !== undefined) resolve(found);
    });
    void server.ended.then(() => reject(new Error(`${script} ended before it listened`)));
  });
  return { ...server, url };
}
