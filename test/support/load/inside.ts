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
  const active = process.getActiveResourcesInfo().sort();
  socket.end(JSON.stringify({ heapBytes: heapUsed + external, residentBytes: rss, active }));
}).unref();
// It is loaded into the process's threads, too.
if (isMainThread) server.listen(process.env['INSIDE_SOCKET']);
