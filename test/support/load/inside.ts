import { readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

// Loaded into a process ahead of its own modules (`--import`): tells whoever connects to the socket that INSIDE_SOCKET
// names what the process holds, once it has let go of what it can.

const server = createServer(async (socket) => {
  socket.on('error', () => {});
  // The second collection frees what finalizers released.
  for (const _ of [1, 2]) {
    globalThis.gc?.();
    await sleep(10);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  socket.end(
    JSON.stringify({
      heapBytes: heapUsed + external,
      residentBytes: rss,
      active: process.getActiveResourcesInfo().sort(),
      sockets: countSockets(),
    }),
  );
}).unref();
// It is loaded into the process's threads, too.
if (isMainThread) server.listen(process.env['INSIDE_SOCKET']);

/** Open sockets of this process; `undefined` if the system does not report them. */
function countSockets(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').filter(isSocket).length;
  } catch {
    return undefined;
  }
}

function isSocket(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false; // that of the folder itself, closed by now
  }
}
