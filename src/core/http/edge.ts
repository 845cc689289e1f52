import type { IncomingMessage, RequestListener } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { createRequire } from 'node:module';
import { Server as NetServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Events, ListenerRef } from '../kernel/events.ts';
import { answerClientErrors } from './connection/client-errors.ts';
import { type ConnectionBounds, createConnections } from './connection/connections.ts';
import { createListener, type ListenerSettings, listen } from './connection/listener.ts';
import { createHandshakes } from './connection/secure.ts';
import { Exchange } from './exchange.ts';
import { createHandler, type Handle, type HandlerOptions } from './handler.ts';
import { type Operation, otherMethod, UNKNOWN_PATH } from './operations/operation.ts';
import { type AdmitOptions, createAdmit } from './request/admit.ts';
import type { HostsOptions } from './request/hosts.ts';

/** At most one `connectionsRefused` in this time. */
const REFUSALS_PAUSE_MS = 10_000;

/** Share of all connections that is closed at once to make room for others, and how often: all are checked each time. */
const ROOM_SHARE = 1 / 32;
const ROOM_PAUSE_MS = 100;

/** Can be replaced while the listener is open. */
export interface Service
  extends Pick<AdmitOptions, keyof HostsOptions | 'allowedOrigins' | 'publicUrl' | 'trustedProxies'>,
    Pick<HandlerOptions, 'authenticate' | 'hooks' | 'users' | 'challenge'> {
  readonly operations: readonly Operation[];
  /** Headers beside `Authorization` that hold credentials, in lower case. @default none */
  readonly otherCredentials?: ReadonlySet<string> | undefined;
  /** A connection without any traffic is closed after this time. */
  readonly inactivityMs: number;
}

export interface EdgeOptions extends ListenerRef {
  readonly settings: ListenerSettings & ConnectionBounds;
  readonly events: Events;
  readonly headers?: readonly string[] | undefined;
  readonly service: Service;
}

/** One HTTP listener. */
export type Edge = ReturnType<typeof createEdge>;

/** Creates the public or the admin listener. */
export function createEdge(options: EdgeOptions) {
  const { listener, settings, events, headers, service } = options;
  const { tls, maxConnections } = settings;
  const connections = createConnections(settings, events, (exchange) => {
    exchange.release?.();
    exchange.users?.leave();
    exchange.ms = performance.now() - exchange.begun;
    events.requestEnded?.(exchange);
  });

  function answerBy({ operations, otherCredentials, ...rest }: Service): RequestListener {
    const admit = createAdmit({
      ...settings,
      ...rest,
      address: () => server.address(),
      isSecure: tls !== undefined,
    });
    const { sendTimeoutMs } = settings;
    const handle = createHandler({
      ...rest,
      admit,
      connections,
      events,
      headers,
      sendTimeoutMs,
      ending: streams.signal,
    });
    return createApp(operations, handle, otherCredentials);
  }

  let streams = new AbortController();
  let answer = answerBy(service);
  const server = createListener(settings, service.inactivityMs, (req, res) => answer(req, res));
  answerClientErrors(server, { connections, events, headers });
  const handshakes = tls && createHandshakes(server as SecureServer, tls, events);

  let madeRoomAt = Number.NEGATIVE_INFINITY;
  /** Closes the longest idle connections for the next ones, once the maximum is open. */
  function makeRoom(): void {
    if (performance.now() - madeRoomAt < ROOM_PAUSE_MS) return;
    madeRoomAt = performance.now();
    const closed = connections.closeLongestIdle(Math.ceil(maxConnections * ROOM_SHARE));
    if (closed > 0) events.idleConnectionsClosed?.({ listener, connections: closed });
  }
  /** Of all open connections, with those whose TLS handshake has not finished. */
  const sockets = new Set<Socket>();
  const emitOpen = () => events.connectionsChanged?.({ listener, open: sockets.size, maxConnections });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    emitOpen();
    socket.once('close', () => {
      sockets.delete(socket);
      emitOpen();
    });
    if (sockets.size >= maxConnections) makeRoom();
  });
  server.on(handshakes === undefined ? 'connection' : 'secureConnection', connections.open);
  let reportedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    makeRoom();
    events.limitReached?.({ bound: 'http.maxConnections' });
    if (performance.now() - reportedAt < REFUSALS_PAUSE_MS) return;
    reportedAt = performance.now();
    events.connectionsRefused?.({ maxConnections });
  });

  return {
    /** Resolves with the base URL, `http://127.0.0.1:1234`, `https:` with TLS, or `unix:/path`. Rejects with Node's own error. */
    async listen(): Promise<string> {
      const url = await listen(server, settings);
      emitOpen();
      handshakes?.watchFiles();
      server.on('error', (error) => events.listenerFailed?.({ error }));
      return url;
    },
    /** For requests that begin from now on. */
    serve(next: Service): void {
      // Ends streams, so that their clients subscribe to the new service.
      streams.abort();
      streams = new AbortController();
      answer = answerBy(next);
      server.timeout = next.inactivityMs;
    },
    /** Gives requests in flight `graceMs` to finish. Resolves with whether every response was sent completely. */
    async drain(graceMs: number): Promise<boolean> {
      // Not close() of http.Server, which destroys connections whose response is still being written (Node 26).
      NetServer.prototype.close.call(server);
      handshakes?.stop();
      streams.abort();
      const whole = await connections.drain(graceMs);
      for (const socket of sockets) socket.destroy();
      // Stops the timers of http.Server.
      server.close();
      return whole;
    },
  };
}

/**
 * Koa and its router serve every route. A lookup of the exact targets that most clients send is in front of the same handler: it
 * saves a quarter of the processor time of a cached read, and decides nothing (docs/decisions/0011).
 */
function createApp(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials: ReadonlySet<string> | undefined,
): RequestListener {
  const usual = operations.flatMap((operation) =>
    [operation.path, ...(operation.targets ?? [])].map((target) => ({ target, operation })),
  );
  let koa: RequestListener | undefined;

  /** Compares, because V8 interns each text that a map is asked for: 1 % of a cached read. */
  function find({ url, method = '' }: IncomingMessage): Operation | undefined {
    for (const { target, operation } of usual) {
      if (target === url && operation.methods.includes(method)) return operation;
    }
    return undefined;
  }

  return (req, res) => {
    const found = find(req);
    if (found !== undefined) {
      handle(new Exchange(req, res, otherCredentials), found);
      return;
    }
    try {
      // With the first request that needs it: loading takes 45 ms of a start.
      koa ??= createKoa(operations, handle, otherCredentials);
    } catch (error) {
      // Its files could not be read, for lack of descriptors for one. The next request tries again.
      handle(new Exchange(req, res, otherCredentials), { ...UNKNOWN_PATH, respond: () => Promise.reject(error) });
      return;
    }
    koa(req, res);
  };
}

/** `require()` returns at once, and takes less of the router than an `import` would (kernel/node-http.ts). */
function createKoa(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials: ReadonlySet<string> | undefined,
): RequestListener {
  const require = createRequire(import.meta.url);
  const Koa: typeof import('koa') = require('koa');
  const { Router }: typeof import('@koa/router') = require('@koa/router');
  const app = new Koa<{ exchange: Exchange }>();
  const router = new Router<{ exchange: Exchange }>({ strict: true, sensitive: true });
  const listed = operations.filter((operation) => !(operation.open === true && operation.isPage));
  const byPath = Map.groupBy(listed, ({ path }) => path);
  for (const operation of operations) {
    router.register(operation.path, [...operation.methods], ({ state }) => handle(state.exchange, operation));
  }
  // `handle` never throws. Koa would print the stack of a connection that was closed.
  app.on('error', () => {});
  app.use((ctx, next) => {
    // Responses are sent by `handle`.
    ctx.respond = false;
    ctx.state.exchange = new Exchange(ctx.req, ctx.res, otherCredentials);
    const { target } = ctx.state.exchange;
    if (target === undefined) return handle(ctx.state.exchange, UNKNOWN_PATH);
    ctx.url = target.path;
    return next();
  });
  app.use(router.routes());
  app.use(({ path, state }) => {
    const others = byPath.get(path);
    return handle(state.exchange, others === undefined ? UNKNOWN_PATH : otherMethod(others, otherCredentials));
  });
  return app.callback();
}
