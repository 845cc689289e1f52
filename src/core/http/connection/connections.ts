import type { Socket } from 'node:net';
import type { Events } from '../../kernel/events.ts';
import type { Exchange } from '../exchange.ts';
import { createUnread } from './unread.ts';
import { createLines, type LineBounds, type Lined } from './waiting-lines.ts';

/** One open connection. */
export interface Connection extends Lined {
  /** Begun and not yet answered whole, in the order in which they are answered. */
  readonly exchanges: Set<Exchange>;
  /** Bytes of responses that were sent and that the client has not yet read. */
  unsentBytes: number;
  /** Bytes that the system had taken for it when it was looked at last. */
  takenBytes: number;
  /** Whether its last response has been decided on: what still arrives is of no interest. */
  ending: boolean;
  /** Bytes that had arrived when its last exchange began: more means that another request is on its way. */
  bytesSeen: number;
  /** Since when `exchanges` is empty, by `performance.now()`. */
  idleSince: number;
  /** What to do once `exchanges` is empty. */
  next?: () => void;
  /** Why it is being cut, if this side does it. */
  cutFor?: string;
}

/** What callers may have under way, and leave unread. */
export interface ConnectionBounds extends LineBounds {
  /** Unread bytes of all connections beyond which those are cut that have not been read from for longest. */
  readonly maxUnsentBytes: number;
}

/** All open connections of one listener, and what is in flight on them. */
export interface Connections {
  open(socket: Socket): void;
  of(socket: Socket): Connection | undefined;
  /**
   * Gives whether to answer: not once the last response on its connection has been decided on. After a request that has a
   * body and may have none the connection closes.
   */
  begin(exchange: Exchange): boolean;
  /** Resolves once it is the turn of an exchange that has begun; `undefined` where that is so already. */
  turnOf(exchange: Exchange): Promise<void> | undefined;
  /** Takes account of a response that was just sent. */
  sent(exchange: Exchange): void;
  /** Calls `next` once everything that was begun on a connection has been answered. */
  whenIdle(connection: Connection, next: () => void): void;
  /**
   * Whether an exchange is the last one on its connection: it has a body that was not read whole, or the listener is
   * stopping and none waits behind it.
   */
  isLast(exchange: Exchange): boolean;
  /** From now on each connection closes after its last response. */
  stop(): void;
  readonly isStopping: boolean;
  /** Closes the connections on which nothing was begun and nothing is arriving. */
  closeIdle(): void;
  /**
   * Of those, closes so many at most, the ones that have been idle for longest; none that was busy a second ago. Gives how
   * many these are.
   */
  closeLongestIdle(count: number): number;
  /** Destroys the connection of an exchange; `outcome` is what the access log says of all that this cuts. */
  cutOff(exchange: Exchange, outcome: string): void;
  /** Destroys what is left; `outcome` is what the access log says of exchanges that this cuts. Gives their number. */
  cut(outcome: string): number;
  /** Resolves once none is open. */
  empty(): Promise<void>;
}

/** So long after its last response a connection is not closed for others: its next request may be on its way. */
const BUSY_MS = 1000;

/**
 * `onEnd` is called exactly once for each exchange that began: when its response has been handed to the system, or cannot
 * be.
 */
export function createConnections(
  bounds: ConnectionBounds,
  events: Events,
  onEnd: (exchange: Exchange) => void,
): Connections {
  const connections = new Map<Socket, Connection>();
  const waiting: (() => void)[] = [];
  const unread = createUnread<Connection>({
    maxBytes: bounds.maxUnsentBytes,
    takenBy: ({ socket }) => socket.bytesWritten - socket.writableLength,
    cut(slowest) {
      events.boundReached?.({ bound: 'http.maxUnsentBytes' });
      cutConnection(slowest, 'response_unread');
    },
  });
  const lines = createLines(bounds);
  let isStopping = false;

  function open(socket: Socket): void {
    const connection: Connection = {
      socket,
      exchanges: new Set(),
      running: 0,
      line: [],
      unsentBytes: 0,
      takenBytes: 0,
      ending: false,
      bytesSeen: 0,
      idleSince: performance.now(),
      overdue: undefined,
    };
    connections.set(socket, connection);
    lines.watch(connection);
    socket.once('close', () => {
      connections.delete(socket);
      unread.remove(connection, connection.unsentBytes);
      for (const exchange of connection.exchanges) {
        exchange.bytes = 0;
        exchange.outcome = connection.cutFor ?? 'caller_gone';
        exchange.abandon();
        onEnd(exchange);
      }
      connection.exchanges.clear();
      lines.dissolve(connection);
      if (connections.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  }

  function begin(exchange: Exchange): boolean {
    const { req, res, hasBody, takesBody } = exchange;
    const connection = connections.get(req.socket);
    if (connection === undefined || connection.ending) return false;
    connection.ending = hasBody && !takesBody;
    connection.overdue = undefined;
    connection.exchanges.add(exchange);
    connection.bytesSeen = connection.socket.bytesRead;
    if (hasBody) {
      req.once('end', () => {
        connection.bytesSeen = connection.socket.bytesRead;
        connection.overdue = undefined;
      });
    }
    res.once('finish', () => {
      // Node 22 says so of a destroyed connection, too.
      if (connection.socket.destroyed) return;
      end(connection, exchange);
    });
    return true;
  }

  function end(connection: Connection, exchange: Exchange): void {
    connection.exchanges.delete(exchange);
    unread.remove(connection, exchange.bytes);
    onEnd(exchange);
    lines.advance(connection);
    if (connection.exchanges.size > 0) return;
    connection.idleSince = performance.now();
    connection.next?.();
    if (isStopping) closeIfIdle(connection);
  }

  function cutConnection(connection: Connection, outcome: string): void {
    connection.cutFor = outcome;
    connection.ending = true;
    endParsing(connection.socket);
    connection.socket.destroy();
  }

  function turnOf({ req }: Exchange): Promise<void> | undefined {
    const connection = connections.get(req.socket);
    if (connection === undefined) return undefined;
    if (lines.isFull(connection)) {
      events.boundReached?.({ bound: 'http.maxPipelinedWaiting' });
      cutConnection(connection, 'overloaded');
    }
    return lines.turnOf(connection);
  }

  function isLast(exchange: Exchange): boolean {
    const { req, hasBody, takesBody } = exchange;
    if (hasBody && !(req.complete && takesBody)) return true;
    return isStopping && [...(connections.get(req.socket)?.exchanges ?? [])].at(-1) === exchange;
  }

  function isIdle({ socket, exchanges, ending, bytesSeen }: Connection): boolean {
    return exchanges.size === 0 && !ending && socket.bytesRead <= bytesSeen;
  }

  function closeIfIdle(connection: Connection): void {
    if (isIdle(connection)) connection.socket.destroySoon();
  }

  return {
    open,
    of: (socket) => connections.get(socket),
    begin,
    turnOf,
    sent({ req, bytes }) {
      const connection = connections.get(req.socket);
      if (connection !== undefined) unread.add(connection, bytes);
    },
    whenIdle(connection, next) {
      if (connection.exchanges.size === 0) next();
      else connection.next = next;
    },
    isLast,
    stop() {
      isStopping = true;
    },
    get isStopping() {
      return isStopping;
    },
    closeIdle() {
      for (const connection of connections.values()) closeIfIdle(connection);
    },
    closeLongestIdle(count) {
      const before = performance.now() - BUSY_MS;
      const idle = [...connections.values()].filter((one) => one.idleSince < before && isIdle(one));
      idle.sort((one, other) => one.idleSince - other.idleSince);
      const longest = idle.slice(0, count);
      for (const { socket } of longest) socket.destroySoon();
      return longest.length;
    },
    cutOff({ req }, outcome) {
      const connection = connections.get(req.socket);
      if (connection === undefined) req.socket.destroy();
      else cutConnection(connection, outcome);
    },
    cut(outcome) {
      let exchanges = 0;
      for (const connection of connections.values()) {
        exchanges += connection.exchanges.size;
        cutConnection(connection, outcome);
      }
      return exchanges;
    },
    async empty() {
      if (connections.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

/** Of the parser that Node puts on a socket: what it calls for each request that it has found. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: unknown } | null;
}

/** Tells the parser that what follows is no HTTP (as after `CONNECT`). */
const NOT_HTTP = 2;

/**
 * Has nothing more parsed of what has just arrived on a socket that is about to be destroyed. Node would make kilobytes
 * of each of its requests, thousands of them, and keep those until the socket has been closed, which is not before all
 * other sockets have been read from. Without that property of Node's, all that is lost is the memory.
 */
function endParsing(socket: Socket & ParsedSocket): void {
  if (socket.parser) socket.parser.onIncoming = () => NOT_HTTP;
}
