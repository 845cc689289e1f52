import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Events } from '../../kernel/events.ts';
import type { Exchange, PipelinedConnection } from '../exchange.ts';
import { createWriteBacklog } from '../response/send.ts';

export interface ConnectionBounds {
  /** Beyond, connections are closed: what arrives in one piece (64 KiB) is parsed to its end. */
  readonly maxPipelinedWaiting: number;
  /** Unread bytes of all responses. Beyond, connections are closed, the longest without progress first. */
  readonly maxUnsentBytes: number;
}

/** All open connections of one listener, and what is in flight on them. */
export type Connections = ReturnType<typeof createConnections>;

/** Requests of one connection that may wait before reading stops. A disconnect is noticed only while it is read. */
const MAX_READ_AHEAD = 16;

/** Time after its last response in which a connection is not closed for others: its next request may be on its way. */
const BUSY_MS = 1000;

/** Calls `onEnd` exactly once for each exchange that began. */
export function createConnections(
  { maxPipelinedWaiting, maxUnsentBytes }: ConnectionBounds,
  events: Events,
  onEnd: (exchange: Exchange) => void,
) {
  const connections = new Map<Socket, PipelinedConnection>();
  const onceEmpty: (() => void)[] = [];
  const backlog = createWriteBacklog(maxUnsentBytes, ({ req }) => {
    events.limitReached?.({ bound: 'http.maxUnsentBytes' });
    abortSocket(req.socket, 'response_unread');
  });
  let waiting = 0;
  let isStopping = false;

  function open(socket: Socket): void {
    const connection: PipelinedConnection = {
      socket,
      remoteAddress: socket.remoteAddress ?? '',
      exchanges: [],
      ending: false,
      bytesSeen: 0,
      idleSince: performance.now(),
    };
    connections.set(socket, connection);
    socket.on('resume', () => limitReadAhead(connection));
    socket.once('close', () => close(connection));
    // Its TLS handshake has finished late.
    if (isStopping) socket.destroySoon();
  }

  function close({ socket, exchanges, abortedFor }: PipelinedConnection): void {
    connections.delete(socket);
    for (const exchange of exchanges.splice(0)) {
      if (exchange.resume !== undefined) waiting -= 1;
      backlog.remove(exchange);
      exchange.bytes = 0;
      // A client ends a stream by leaving.
      exchange.outcome = abortedFor ?? (exchange.openedMs === undefined ? 'caller_gone' : 'ok');
      exchange.abandon();
      onEnd(exchange);
      exchange.resume?.();
    }
    if (connections.size === 0) for (const resolve of onceEmpty.splice(0)) resolve();
  }

  /** Registers an exchange. Returns false behind the last one of its connection. An unexpected body makes it the last one. */
  function begin(exchange: Exchange): boolean {
    const { req, res, hasBody, takesBody } = exchange;
    const connection = connections.get(req.socket);
    if (connection === undefined || connection.ending) return false;
    connection.ending = hasBody && !takesBody;
    connection.exchanges.push(exchange);
    exchange.connection = connection;
    exchange.arrivedWhileDraining = isStopping;
    connection.bytesSeen = req.socket.bytesRead;
    if (hasBody) {
      req.on('end', () => {
        connection.bytesSeen = req.socket.bytesRead;
      });
    }
    res.on('finish', () => {
      // Node 22 emits it for a destroyed connection, too.
      if (!req.socket.destroyed) end(connection, exchange);
    });
    return true;
  }

  function end(connection: PipelinedConnection, exchange: Exchange): void {
    const { exchanges } = connection;
    exchanges.shift();
    backlog.remove(exchange);
    onEnd(exchange);
    const [next] = exchanges;
    if (next !== undefined) {
      waiting -= 1;
      if (exchanges.length - 1 === MAX_READ_AHEAD) connection.socket.resume();
      next.resume?.();
      next.resume = undefined;
    } else {
      connection.idleSince = performance.now();
      connection.onIdle?.();
      if (isStopping) closeIfIdle(connection);
    }
  }

  /** Resolves once the exchanges before this one have ended; `undefined` if there are none. */
  function waitForSlot(exchange: Exchange): Promise<void> | undefined {
    const { connection } = exchange;
    if (connection === undefined || connection.exchanges.length === 1) return undefined;
    if (waiting >= maxPipelinedWaiting) {
      events.limitReached?.({ bound: 'http.maxPipelinedWaiting' });
      abortSocket(connection.socket, 'overloaded');
    }
    waiting += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    exchange.resume = resolve;
    limitReadAhead(connection);
    return promise;
  }

  function abortSocket(socket: Socket, outcome: string): void {
    const connection = connections.get(socket);
    if (connection !== undefined) {
      connection.abortedFor = outcome;
      connection.ending = true;
    }
    endParsing(socket);
    socket.destroy();
  }

  function isIdle({ socket, exchanges, ending, bytesSeen }: PipelinedConnection): boolean {
    return exchanges.length === 0 && !ending && socket.bytesRead <= bytesSeen;
  }

  function closeIfIdle(connection: PipelinedConnection): void {
    if (isIdle(connection)) connection.socket.destroySoon();
  }

  /** Whether an exchange is the last of its connection: its body was not read, or announced by `Expect` alone; or when stopping. */
  function isLast({ req, fields, hasBody, isBodyRead, takesBody, connection }: Exchange): boolean {
    if (hasBody ? !((req.complete || isBodyRead) && takesBody) : fields.expect !== undefined) return true;
    return isStopping && connection?.exchanges.length === 1;
  }

  /** Calls `onIdle` once everything on a connection has been answered. */
  function whenIdle(connection: PipelinedConnection, onIdle: () => void): void {
    if (connection.exchanges.length === 0) onIdle();
    else connection.onIdle = onIdle;
  }

  /** Closes the longest idle connections, none that was busy a second ago. Returns their number. */
  function closeLongestIdle(count: number): number {
    const before = performance.now() - BUSY_MS;
    const idle = [...connections.values()].filter((one) => one.idleSince < before && isIdle(one));
    idle.sort((one, other) => one.idleSince - other.idleSince);
    const longest = idle.slice(0, count);
    for (const { socket } of longest) socket.destroySoon();
    return longest.length;
  }

  /** Closes each connection after its last response, all after `graceMs`. Resolves with whether all were sent completely. */
  async function drain(graceMs: number): Promise<boolean> {
    isStopping = true;
    // What has arrived is parsed first, so that it gets a response and not a reset.
    await turn();
    await turn();
    for (const connection of connections.values()) closeIfIdle(connection);
    const finished = new Promise<void>((resolve) => (connections.size === 0 ? resolve() : onceEmpty.push(resolve)));
    const grace = new AbortController();
    await Promise.race([finished, sleep(graceMs, undefined, { signal: grace.signal }).catch(() => {})]);
    grace.abort();
    let cut = 0;
    for (const { socket, exchanges } of connections.values()) {
      cut += exchanges.length;
      abortSocket(socket, 'draining');
    }
    await finished;
    return cut === 0;
  }

  return {
    open,
    of: (socket: Socket) => connections.get(socket),
    begin,
    waitForSlot,
    sent: backlog.add,
    whenIdle,
    isLast,
    closeLongestIdle,
    /** Destroys the connection of an exchange. `outcome` is logged for every exchange that ends with it. */
    abort: ({ req }: Exchange, outcome: string) => abortSocket(req.socket, outcome),
    drain,
  };
}

function limitReadAhead({ socket, exchanges }: PipelinedConnection): void {
  const isFull = () => exchanges.length - 1 > MAX_READ_AHEAD;
  // Node resumes a socket for each request that it has parsed, in the next tick.
  if (isFull()) process.nextTick(() => isFull() && socket.pause());
}

/** Called by Node's parser for each request. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: unknown } | null;
}

/** The parser takes what follows for something else (as after `CONNECT`). */
const NOT_HTTP = 2;

/**
 * Stops parsing before a socket is destroyed: Node would keep kilobytes of each of thousands of pipelined requests until it has
 * closed. The property is not documented: without it, only the memory is lost.
 */
function endParsing(socket: Socket & ParsedSocket): void {
  if (socket.parser) socket.parser.onIncoming = () => NOT_HTTP;
}
