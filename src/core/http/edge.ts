import type { RequestListener } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Authenticate } from '../credentials/authenticate.ts';
import type { Events, ListenerRef } from '../kernel/events.ts';
import type { Users } from '../kernel/users.ts';
import { createApp } from './app.ts';
import { answerClientErrors } from './connection/client-errors.ts';
import { type ConnectionBounds, createConnections } from './connection/connections.ts';
import { createListener, type ListenerSettings, listen } from './connection/listener.ts';
import { createHandshakes } from './connection/secure.ts';
import { createHandler } from './handler.ts';
import type { Operation } from './operations/operation.ts';
import { type AdmitOptions, createAdmit } from './request/admit.ts';
import type { ClientAddress } from './request/client-address.ts';
import type { HostsOptions } from './request/hosts.ts';
import type { RequestHooks } from './request-hooks.ts';
import type { Challenge } from './response/problem.ts';

/** At most one event in this time says that connections are refused. */
const REFUSALS_PAUSE_MS = 10_000;

/** Which part of all connections is closed at once to make room for others, and at most how often: it takes a look at all. */
const ROOM_SHARE = 1 / 32;
const ROOM_PAUSE_MS = 100;

/** What a listener answers, and whom. */
export interface Service extends Pick<AdmitOptions, keyof HostsOptions | 'allowedOrigins' | 'publicUrl'> {
  readonly operations: readonly Operation[];
  readonly authenticate: Authenticate;
  /** Headers beside `Authorization` that hold credentials, in lower case. @default none */
  readonly otherCredentials?: ReadonlySet<string> | undefined;
  readonly hooks: RequestHooks;
  /** Finds the address of a client. @default that of its connection */
  readonly addressOf?: ClientAddress | undefined;
  /** @default one that names no place to obtain a token */
  readonly challenge?: Challenge | undefined;
  /** Counts the exchanges that are answered by it. @default nobody does */
  readonly users?: Pick<Users, 'enter' | 'leave'> | undefined;
  /** How long nothing may move on a connection. */
  readonly inactivityMs: number;
}

export interface EdgeOptions extends ListenerRef {
  readonly settings: ListenerSettings & ConnectionBounds;
  readonly events: Events;
  /** Sent with every response, names and values by turns. @default none */
  readonly headers?: readonly string[] | undefined;
  readonly service: Service;
}

/** One HTTP listener, and the way it ends. */
export interface Edge {
  /** Resolves with the base URL, `http://127.0.0.1:1234`, `https:` with TLS, or `unix:/path`. Rejects with Node's own error. */
  listen(): Promise<string>;
  /** Answers by this from now on. What has begun ends as it began. */
  serve(service: Service): void;
  /**
   * Takes no more, and gives what is in flight `graceMs` to finish; then destroys what is left. Resolves once nothing is
   * open, with whether every response was sent whole.
   */
  drain(graceMs: number): Promise<boolean>;
}

/** What the public and the admin listener have in common. */
export function createEdge(options: EdgeOptions): Edge {
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
    const handle = createHandler({ ...rest, admit, connections, events, headers });
    return createApp(operations, rest.hooks.wrapHandler(handle), otherCredentials);
  }

  let answer = answerBy(service);
  const server = createListener(settings, service.inactivityMs, (req, res) => answer(req, res));
  answerClientErrors(server, { connections, events, headers });
  const handshakes = tls && server instanceof SecureServer ? createHandshakes(server, tls, events) : undefined;

  let madeRoomAt = Number.NEGATIVE_INFINITY;
  /** Once all connections are open that may be, those that were used longest ago are closed for the next ones. */
  function makeRoom(): void {
    if (performance.now() - madeRoomAt < ROOM_PAUSE_MS) return;
    madeRoomAt = performance.now();
    const closed = connections.closeLongestIdle(Math.ceil(maxConnections * ROOM_SHARE));
    if (closed > 0) events.idleConnectionsClosed?.({ listener, connections: closed });
  }
  let open = 0;
  function count(change: 1 | 0 | -1): void {
    open += change;
    events.connectionsChanged?.({ listener, open, maxConnections });
  }
  server.on('connection', (socket: Socket) => {
    count(1);
    socket.once('close', () => count(-1));
    if (open >= maxConnections) makeRoom();
  });
  server.on(handshakes === undefined ? 'connection' : 'secureConnection', connections.open);
  let toldAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    makeRoom();
    events.limitReached?.({ bound: 'http.maxConnections' });
    if (performance.now() - toldAt < REFUSALS_PAUSE_MS) return;
    toldAt = performance.now();
    events.connectionsRefused?.({ maxConnections });
  });

  return {
    async listen() {
      const url = await listen(server, settings);
      count(0);
      handshakes?.watchFiles();
      server.on('error', (error) => events.listenerFailed?.({ error }));
      return url;
    },
    serve(next) {
      answer = answerBy(next);
      server.timeout = next.inactivityMs;
    },
    async drain(graceMs) {
      connections.stop();
      // Not http.Server's own close(): that also destroys connections whose response is still being written (Node 26).
      NetServer.prototype.close.call(server);
      handshakes?.stop();
      // What has arrived already is parsed first, so that it gets a response rather than a reset.
      await turn();
      await turn();
      connections.closeIdle();
      const finished = connections.empty();
      const grace = new AbortController();
      await Promise.race([finished, sleep(graceMs, undefined, { signal: grace.signal }).catch(() => {})]);
      grace.abort();
      const cut = connections.abortAll('draining');
      await finished;
      // Ends what else http.Server keeps going.
      server.close();
      return cut === 0;
    },
  };
}
