import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createSecureServer, type ListenerTls } from '../../../capabilities/tls/secure.ts';
import { createServer } from '../../kernel/node-http.ts';
import { bracketed } from '../request/hosts.ts';

/** Where a listener is bound, and how much of anything it takes. */
export interface ListenerSettings {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Unix socket to listen on instead. */
  readonly socketPath?: string | undefined;
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

/** How many times the headers timeout is looked at before it passes. */
const CHECKS_PER_TIMEOUT = 5;
const LONGEST_CHECK_MS = 1000;

/** A server of `node:http`, or `node:https`, within these bounds. `inactivityMs` is how long nothing may move on a connection. */
export function createListener(settings: ListenerSettings, inactivityMs: number, answer: RequestListener): Server {
  const { maxUrlBytes, maxHeaderBytes, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = settings;
  const headersTimeoutMs = Math.min(settings.headersTimeoutMs, requestTimeoutMs);
  const options: ServerOptions = {
    insecureHTTPParser: false,
    // Both are checked again, with a whole response to the caller (request/admit.ts).
    requireHostHeader: false,
    // The parser counts target and headers together; each by itself is checked again.
    maxHeaderSize: maxUrlBytes + maxHeaderBytes + 1,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(Math.ceil(headersTimeoutMs / CHECKS_PER_TIMEOUT), LONGEST_CHECK_MS),
    keepAliveTimeout: keepAliveTimeoutMs,
    // A request without a body needs no stream (Node 26; older ones make it all the same).
    optimizeEmptyRequests: true,
  };
  const server =
    settings.tls === undefined
      ? createServer(options)
      : createSecureServer(settings.tls, { ...options, handshakeTimeout: headersTimeoutMs });
  server.on('request', answer);
  server.on('timeout', destroyUnlessItSpeaks);
  server.maxConnections = maxConnections;
  // Bytes are bounded; beyond a number of headers, Node 22 would leave the others out in silence.
  server.maxHeadersCount = 0;
  server.timeout = inactivityMs;
  // Neither `100 Continue` for a body that nothing reads, nor Node's bare 417.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  return server;
}

/** A process that has stood still has times pass before it reads what has come meanwhile. */
async function destroyUnlessItSpeaks(socket: Socket): Promise<void> {
  const { bytesRead } = socket;
  await turn();
  if (socket.bytesRead === bytesRead) socket.destroy();
}

/**
 * Listens, and gives the base URL: `http://127.0.0.1:1234`, `https:` with TLS, or `unix:/path`. A socket file that nobody listens on any
 * more is replaced. Rejects with Node's own error (`EADDRINUSE`, `EACCES`, …).
 */
export async function listen(
  server: Server,
  { host, port, socketPath, tls }: Pick<ListenerSettings, 'host' | 'port' | 'socketPath' | 'tls'>,
): Promise<string> {
  if (socketPath !== undefined) {
    if (await isStale(socketPath)) await unlink(socketPath);
    server.listen(socketPath);
  } else {
    server.listen(port, host);
  }
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') return `unix:${address}`;
  return `${tls === undefined ? 'http' : 'https'}://${bracketed(address)}:${address.port}`;
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
