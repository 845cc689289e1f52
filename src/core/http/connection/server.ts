import type { RequestListener, ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { connectionAccepted } from '../../kernel/event-loop.ts';
import type { Events, ListenerRef } from '../../kernel/events.ts';
import { createServer } from '../../kernel/node-http.ts';
import { answerClientErrors } from './client-errors.ts';
import { createClientConnections } from './connections.ts';
import { type ListenSettings, listen } from './listener.ts';
import { createHandshakes, createSecureServer } from './secure.ts';

/** At most one `connectionsRefused` in this time. */
const REFUSALS_PAUSE_MS = 10_000;

/** Share of all connections that is closed at once to make room for others, and how often: all are checked each time. */
const ROOM_SHARE = 1 / 32;
const ROOM_PAUSE_MS = 100;

const CHECKS_PER_TIMEOUT = 5;
const LONGEST_CHECK_MS = 1000;

export interface ServerSettings extends ListenSettings {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly maxConnections: number;
  /** Beyond, connections are closed: what arrives in one piece (64 KiB) is parsed to its end. */
  readonly maxPipelinedWaiting: number;
  /** Unread bytes of all responses. Beyond, the connections of the oldest ones are closed. */
  readonly maxUnsentBytes: number;
}

interface HttpServerOptions extends ListenerRef {
  readonly settings: ServerSettings;
  readonly events: Events;
  /** A connection without any traffic is closed after this time. */
  readonly inactivityMs: number;
}

/** Creates a server for `answer`, with its bounds on connections and on the time that they take. */
export function createHttpServer(options: HttpServerOptions, answer: RequestListener) {
  const { listener, settings, events, inactivityMs } = options;
  const { tls, maxConnections } = settings;
  const server = createNodeServer(settings);
  const connections = createClientConnections(settings.maxPipelinedWaiting, events, answer);
  for (const name of ['request', 'checkContinue', 'checkExpectation']) server.on(name, connections.accept);
  answerClientErrors(server, connections, events);
  server.on('timeout', closeUnlessReceiving);
  server.timeout = inactivityMs;
  const handshakes = tls && createHandshakes(server as SecureServer, tls, events);

  let madeRoomAt = Number.NEGATIVE_INFINITY;
  /** Closes the longest idle connections for the next ones, once the maximum is open. */
  function makeRoom(): void {
    if (performance.now() - madeRoomAt < ROOM_PAUSE_MS) return;
    madeRoomAt = performance.now();
    connections.closeLongestIdle(Math.ceil(maxConnections * ROOM_SHARE));
  }
  /** Sockets of all open connections, also of those whose TLS handshake has not finished. */
  const sockets = new Set<Socket>();
  const emitOpen = () => events.connectionsChanged?.({ listener, open: sockets.size, maxConnections });
  server.on('connection', (socket: Socket) => {
    connectionAccepted();
    sockets.add(socket);
    emitOpen();
    socket.once('close', () => {
      sockets.delete(socket);
      emitOpen();
    });
    if (sockets.size >= maxConnections) makeRoom();
  });
  server.on(tls === undefined ? 'connection' : 'secureConnection', connections.open);
  let reportedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    makeRoom();
    events.limitReached?.({ bound: 'http.maxConnections' });
    if (performance.now() - reportedAt < REFUSALS_PAUSE_MS) return;
    reportedAt = performance.now();
    events.connectionsRefused?.({ maxConnections });
  });

  return {
    /** Where it listens; `null` before it does. */
    address: () => server.address(),
    setInactivity(ms: number): void {
      server.timeout = ms;
    },
    /** Resolves with the base URL, `http://127.0.0.1:1234`, `https:` with TLS, or `unix:/path`. Rejects with Node's own error. */
    async listen(): Promise<string> {
      const url = await listen(server, settings);
      emitOpen();
      handshakes?.watchFiles();
      server.on('error', (error) => events.listenerFailed?.({ error }));
      return url;
    },
    /** Gives requests in flight `graceMs` to finish. Resolves with whether every response was sent completely. */
    async drain(graceMs: number): Promise<boolean> {
      // Not close() of http.Server, which destroys connections whose response is still being written (Node 26).
      NetServer.prototype.close.call(server);
      handshakes?.stop();
      const whole = await connections.drain(graceMs);
      for (const socket of sockets) socket.destroy();
      // Stops the timers of http.Server.
      server.close();
      return whole;
    },
  };
}

function createNodeServer(settings: ServerSettings) {
  const { tls, maxUrlBytes, maxHeaderBytes, requestTimeoutMs, keepAliveTimeoutMs, maxConnections } = settings;
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
    tls === undefined
      ? createServer(options)
      : createSecureServer(tls, { ...options, handshakeTimeout: headersTimeoutMs });
  server.maxConnections = maxConnections;
  // Bytes are bounded instead; beyond a number of headers, Node 22 drops the others silently.
  server.maxHeadersCount = 0;
  return server;
}

/** Closes an idle connection, unless a request arrived while the process was stopped: timers run before reads. */
async function closeUnlessReceiving(socket: Socket): Promise<void> {
  const { bytesRead } = socket;
  await turn();
  if (socket.bytesRead === bytesRead) socket.destroy();
}
