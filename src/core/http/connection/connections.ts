import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Events } from '../../kernel/events.ts';
import { abortConnection } from './aborted.ts';

interface PendingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Its requests are answered one after the other, whatever the client pipelines. */
export interface Connection {
  readonly socket: Socket;
  /** The exchange that is being answered, until its response was sent. */
  current: PendingRequest | undefined;
  /** Requests that are answered after it, in order. */
  readonly waiting: PendingRequest[];
  /** Whether nothing that arrives from now on is answered. */
  isClosing: boolean;
  /** Bytes received when the last request had arrived. More means another request. */
  bytesSeen: number;
  /** Since when it is not used, by `performance.now()`. */
  idleSince: number;
}

/** All open connections of one listener. */
export type ClientConnections = ReturnType<typeof createClientConnections>;

/** Time after its last response in which a connection is not closed for others: its next request may be on its way. */
const BUSY_MS = 1000;

/**
 * `maxPipelinedWaiting`: requests that wait for the ones before them, of all connections. Beyond, a connection is closed: Node has
 * no means to refuse a request before it has parsed it.
 */
export function createClientConnections(maxPipelinedWaiting: number, events: Events, listener: RequestListener) {
  const connections = new Map<Socket, Connection>();
  const onceEmpty: (() => void)[] = [];
  let waiting = 0;
  let isStopping = false;

  function open(socket: Socket): void {
    const idleSince = performance.now();
    const connection = { socket, current: undefined, waiting: [], isClosing: false, bytesSeen: 0, idleSince };
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      dropWaiting(connection);
      if (connections.size === 0) for (const resolve of onceEmpty.splice(0)) resolve();
    });
    // Its TLS handshake has finished late.
    if (isStopping) socket.destroySoon();
  }

  function dropWaiting({ waiting: dropped }: Pick<Connection, 'waiting'>): void {
    waiting -= dropped.splice(0).length;
  }

  /** Answers a request, after those before it on its connection. */
  function accept(req: IncomingMessage, res: ServerResponse): void {
    const connection = connections.get(req.socket);
    if (connection === undefined || connection.isClosing) return;
    connection.bytesSeen = req.socket.bytesRead;
    if (connection.current === undefined) begin(connection, { req, res });
    else if (waiting < maxPipelinedWaiting) {
      waiting += 1;
      connection.waiting.push({ req, res });
    } else {
      connection.isClosing = true;
      events.limitReached?.({ bound: 'http.maxPipelinedWaiting' });
      endParsing(connection.socket);
      abortConnection(connection.socket, 'overloaded');
    }
  }

  function begin(connection: Connection, exchange: PendingRequest): void {
    const { req, res } = exchange;
    connection.current = exchange;
    if (isStopping) closeAfter(connection);
    listener(req, res);
    res.on('close', () => {
      connection.current = undefined;
      // With the body.
      connection.bytesSeen = connection.socket.bytesRead;
      if (res.getHeader('Connection') === 'close') {
        connection.isClosing = true;
        dropWaiting(connection);
      }
      const next = connection.waiting.shift();
      if (next !== undefined) {
        waiting -= 1;
        begin(connection, next);
      } else if (connection.isClosing) {
        connection.socket.destroySoon();
      } else {
        connection.idleSince = performance.now();
        if (isStopping) closeIfIdle(connection);
      }
    });
  }

  /** Answers nothing that arrives from now on, and closes a connection after the requests that arrived before. */
  function end(connection: Connection): void {
    connection.isClosing = true;
    closeAfter(connection);
  }

  function isIdle({ socket, current, isClosing, bytesSeen }: Connection): boolean {
    return current === undefined && !isClosing && socket.bytesRead <= bytesSeen;
  }

  function closeIfIdle(connection: Connection): void {
    if (isIdle(connection)) connection.socket.destroySoon();
  }

  /** Has the response be the last one of its connection, unless its head was sent or others wait behind it. */
  function closeAfter({ current, waiting: behind }: Connection): void {
    if (current?.res.headersSent === false && behind.length === 0) current.res.setHeader('Connection', 'close');
  }

  /** Closes the longest idle connections, none that was busy a second ago. Returns their number. */
  function closeLongestIdle(count: number): void {
    const before = performance.now() - BUSY_MS;
    const idle = [...connections.values()].filter((one) => one.idleSince < before && isIdle(one));
    idle.sort((one, other) => one.idleSince - other.idleSince);
    for (const { socket } of idle.slice(0, count)) socket.destroySoon();
  }

  /** Closes each connection after its last response, all after `graceMs`. Resolves with whether all were sent completely. */
  async function drain(graceMs: number): Promise<boolean> {
    isStopping = true;
    // Requests that have arrived are parsed first, so that they get a response and not a reset.
    await turn();
    await turn();
    for (const connection of connections.values()) {
      closeIfIdle(connection);
      closeAfter(connection);
    }
    const finished = new Promise<void>((resolve) => (connections.size === 0 ? resolve() : onceEmpty.push(resolve)));
    const grace = new AbortController();
    await Promise.race([finished, sleep(graceMs, undefined, { signal: grace.signal }).catch(() => {})]);
    grace.abort();
    const cut = [...connections.values()].filter(({ current }) => current !== undefined);
    for (const socket of connections.keys()) abortConnection(socket, 'draining');
    await finished;
    return cut.length === 0;
  }

  return {
    open,
    of: (socket: Socket) => connections.get(socket),
    accept,
    end,
    closeLongestIdle,
    drain,
  };
}

/** Node's parser takes what follows for something else, as after `CONNECT`. */
const NOT_HTTP = 2;

/**
 * Ends parsing before a socket is destroyed: a packet may hold two thousand requests more, and Node keeps kilobytes of each until the
 * socket has closed. A hundred such packets at once would take all memory. This is the one undocumented property that is used here: in
 * a version of Node that lacks it, only the memory is lost.
 */
function endParsing({ parser }: Socket & { readonly parser?: { onIncoming?: unknown } | null }): void {
  if (parser) parser.onIncoming = () => NOT_HTTP;
}
