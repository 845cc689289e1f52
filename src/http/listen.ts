import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { bracketed } from './host.ts';

/** Where to listen: on a Unix socket, or on a TCP port, 0 for a free one. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly socketPath?: string | undefined;
}

/**
 * Listens, and gives the base URL: `http://127.0.0.1:1234` or `unix:/path`. A socket file that nobody listens on any
 * more is replaced. Rejects with Node's own error (`EADDRINUSE`, `EACCES`, …).
 */
export async function listen(server: Server, { host, port, socketPath }: Place): Promise<string> {
  if (socketPath !== undefined) {
    if (await isStale(socketPath)) await unlink(socketPath);
    server.listen(socketPath);
  } else {
    server.listen(port, host);
  }
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') return `unix:${address}`;
  return `http://${bracketed(address)}:${address.port}`;
}

/** Left behind by a process that had no time to clean up. Whatever is no socket is somebody's file. */
async function isStale(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return false;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
