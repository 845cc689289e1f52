import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Inside {
  /** Bytes of its JavaScript, of its buffers and of the rest of what its objects hold, after a collection. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Sockets, timers and requests that keep it going, in words of Node's, sorted. */
  readonly active: readonly string[];
}

/** The environment in which a process can be looked into, with a socket for it in `folder`. */
export function insideEnvironment(folder: string): Record<string, string> {
  return {
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --expose-gc --import ${import.meta.url}`,
    INSIDE_SOCKET: join(folder, 'inside.sock'),
  };
}

/** Looks into a process that was started in {@link insideEnvironment}. */
export async function lookInside(folder: string): Promise<Inside> {
  return JSON.parse(await text(connect(join(folder, 'inside.sock'))));
}

/** What a process holds more than it did `before`, in words. */
export function leftovers(inside: Inside, before: Inside): readonly string[] {
  // A batch of log lines on its way out, which comes and goes.
  const rest = inside.active.filter((kind) => kind !== 'FSReqCallback');
  for (const kind of before.active) {
    const index = rest.indexOf(kind);
    if (index >= 0) rest.splice(index, 1);
  }
  return rest;
}

// In such a process this is loaded ahead of its own modules.
const { INSIDE_SOCKET } = process.env;
if (INSIDE_SOCKET !== undefined) {
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    // The second collection frees what finalizers released.
    for (const _ of [1, 2]) {
      globalThis.gc?.();
      await sleep(10);
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    const active = process.getActiveResourcesInfo().sort();
    socket.end(JSON.stringify({ heapBytes: heapUsed + external, residentBytes: rss, active } satisfies Inside));
  });
  server.listen(INSIDE_SOCKET).unref();
}
