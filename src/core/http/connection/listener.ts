import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer } from '../../kernel/node-http.ts';
import { bracketed } from '../request/hosts.ts';
import { createSecureServer, type ListenerTls } from './secure.ts';

export interface ListenerSettings {
  readonly host: string;
  readonly port: number;
  readonly socketPath?: string | undefined;
  /** Whether other processes may listen on the same port: the kernel spreads connections over them. @default false */
  readonly reusePort?: boolean | undefined;
  /** @default plain HTTP */
  readonly tls?: ListenerTls | undefined;
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly maxConnections: number;
}

const CHECKS_PER_TIMEOUT = 5;
const LONGEST_CHECK_MS = 1000;

/** A connection without any traffic is closed after `inactivityMs`. */
export function createListener(settings: ListenerSettings, inactivityMs: number, answer: RequestListener): Server {
  const { maxUrlBytes, maxHeaderBytes, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = settings;
  const headersTimeoutMs = Math.min(settings.headersTimeoutMs, requestTimeoutMs);
  const options: ServerOptions = {
    insecureHTTPParser: false,
    // Checked in request/admit.ts, with a problem as the response.
    requireHostHeader: false,
    // The parser counts target and headers together; request/admit.ts checks each by itself.
    maxHeaderSize: maxUrlBytes + maxHeaderBytes + 1,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(Math.ceil(headersTimeoutMs / CHECKS_PER_TIMEOUT), LONGEST_CHECK_MS),
    keepAliveTimeout: keepAliveTimeoutMs,
    // No stream for a request without a body (Node 26).
    optimizeEmptyRequests: true,
  };
  const server =
    settings.tls === undefined
      ? createServer(options)
      : createSecureServer(settings.tls, { ...options, handshakeTimeout: headersTimeoutMs });
  server.on('request', answer);
  server.on('timeout', closeUnlessReceiving);
  server.maxConnections = maxConnections;
  // Bytes are bounded instead; beyond a number of headers, Node 22 drops the others silently.
  server.maxHeadersCount = 0;
  server.timeout = inactivityMs;
  // No `100 Continue` for a body that is not read, and no 417 of Node's own.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  return server;
}

/** Closes an idle connection, unless a request arrived while the process was stopped: timers run before reads. */
async function closeUnlessReceiving(socket: Socket): Promise<void> {
  const { bytesRead } = socket;
  await turn();
  if (socket.bytesRead === bytesRead) socket.destroy();
}

/** Listens, and resolves with the base URL. A socket file on which no process listens is replaced. Rejects with Node's error. */
export async function listen(
  server: Server,
  {
    host,
    port,
    socketPath,
    reusePort,
    tls,
  }: Pick<ListenerSettings, 'host' | 'port' | 'socketPath' | 'reusePort' | 'tls'>,
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
