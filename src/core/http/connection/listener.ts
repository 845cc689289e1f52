import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { bracketed } from '../request/hosts.ts';
import type { ListenerTls } from './secure.ts';

export interface ListenSettings {
  readonly host: string;
  readonly port: number;
  readonly socketPath?: string | undefined;
  /** Whether other processes may listen on the same port: the kernel spreads connections over them. @default false */
  readonly reusePort?: boolean | undefined;
  /** @default plain HTTP */
  readonly tls?: ListenerTls | undefined;
}

/** Listens, and resolves with the base URL. A socket file on which no process listens is replaced. Rejects with Node's error. */
export async function listen(
  server: Server,
  { host, port, socketPath, reusePort, tls }: ListenSettings,
): Promise<string> {
  if (socketPath !== undefined) {
    if (await isStale(socketPath)) await unlink(socketPath);
    server.listen(socketPath);
  } else {
    server.listen({ port, host, reusePort });
  }
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') return `unix:${address}`;
  return `${tls === undefined ? 'http' : 'https'}://${bracketed(address)}:${address.port}`;
}

/** Whether a path is a socket that a process left behind. */
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
