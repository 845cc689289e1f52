import { fileURLToPath } from 'node:url';
import { type GarbageWatch, watchGarbage } from './garbage.ts';
import type { Pinned } from './process.ts';
import type { Workshop } from './workshop.ts';

/** A server of the bench that listens. */
export interface Server extends Pinned {
  /** Without a trailing slash. */
  readonly url: string;
  /** Where it is a Node. */
  readonly garbage?: GarbageWatch;
}

/** A file of this repository. */
export function ours(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/**
 * Runs a script with this Node on one core, and resolves once it prints the address at which it listens. Its garbage
 * collection is watched unless `watched` says otherwise.
 */
export async function serve(
  workshop: Workshop,
  core: number,
  args: readonly string[],
  watched = true,
  environment: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const garbage = watched ? watchGarbage(workshop) : undefined;
  const server = workshop.run(core, process.execPath, [...(garbage?.node ?? []), ...args], {
    ...garbage?.environment,
    ...environment,
  });
  const url = await new Promise<string>((resolve, reject) => {
    let head = '';
    let known = false;
    server.onOutput((text) => {
      // The rest is read and forgotten, so that an access log costs what it costs.
      if (known) return;
      head += text;
      const found = /"url":"([^"]+)"/.exec(head)?.[1];
      known = found !== undefined;
      if (found !== undefined) resolve(found);
    });
    void server.ended.then(() => reject(new Error(`${args.join(' ')} ended before it listened`)));
  });
  return { ...server, url, ...(garbage && { garbage }) };
}
