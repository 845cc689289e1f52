import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { watchHalfClosed } from './half-closed.ts';
import type { Lifecycle } from './lifecycle.ts';

/** One open connection. */
export interface Connection {
  readonly socket: Socket;
  /** Begun and not yet answered whole, in the order in which they are answered. */
  readonly exchanges: Set<Exchange>;
  /** Whether its last answer has been decided on: what still arrives is of no interest. */
  ending: boolean;
  /** Bytes that had arrived when its last exchange began: more means that another request is on its way. */
  bytesSeen: number;
  /** What to do once `exchanges` is empty. */
  next?: () => void;
  /** Why it is being cut, if this side does it. */
  cutFor?: string;
}

/** All open connections of one listener, and what is in flight on them. */
export interface Connections {
  open(socket: Socket): void;
  of(socket: Socket): Connection | undefined;
  /** Gives whether to answer: not once the last answer on its connection has been decided on. */
  begin(exchange: Exchange): boolean;
  /** Calls `next` once everything that was begun on a connection has been answered. */
  whenIdle(connection: Connection, next: () => void): void;
  /**
   * Whether an exchange is the last one on its connection: it has a body that was not read whole, or the listener is
   * stopping and none waits behind it.
   */
  isLast(exchange: Exchange): boolean;
  /** Closes the connections on which nothing was begun and nothing is arriving. */
  closeIdle(): void;
  /** Destroys the connection of an exchange; `outcome` is what the access log says of all that this cuts. */
  cutOff(exchange: Exchange, outcome: string): void;
  /** Destroys what is left; `outcome` is what the access log says of exchanges that this cuts. Gives their number. */
  cut(outcome: string): number;
  /** Resolves once none is open. */
  empty(): Promise<void>;
}

export interface ConnectionsOptions {
  readonly lifecycle: Lifecycle;
  /** Called exactly once for each exchange: when its answer has been handed to the system, or cannot be. */
  readonly onEnd: (exchange: Exchange) => void;
  /** Whether a request may have a body. After any other one with a body the connection closes. */
  readonly takesBody: (req: IncomingMessage) => boolean;
}

/** Once the listener is stopping, each connection closes after its last answer. */
export function createConnections({ lifecycle, onEnd, takesBody }: ConnectionsOptions): Connections {
  const connections = new Map<Socket, Connection>();
  const waiting: (() => void)[] = [];

  function open(socket: Socket): void {
    const connection: Connection = { socket, exchanges: new Set(), ending: false, bytesSeen: 0 };
    connections.set(socket, connection);
    socket.once('end', () => watchHalfClosed(socket, connection.exchanges));
    socket.once('close', () => {
      connections.delete(socket);
      for (const exchange of connection.exchanges) {
        exchange.gone = true;
        exchange.bytes = 0;
        exchange.outcome = connection.cutFor ?? 'caller_gone';
        exchange.onGone?.();
        onEnd(exchange);
      }
      connection.exchanges.clear();
      if (connections.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  }

  function begin(exchange: Exchange): boolean {
    const connection = connections.get(exchange.req.socket);
    if (connection === undefined || connection.ending) return false;
    const bodied = hasBody(exchange.req);
    connection.ending = bodied && !takesBody(exchange.req);
    connection.exchanges.add(exchange);
    const seen = () => {
      connection.bytesSeen = connection.socket.bytesRead;
    };
    seen();
    if (bodied) exchange.req.once('end', seen);
    exchange.res.once('finish', () => {
      // Node 22 says so of a destroyed connection, too.
      if (connection.socket.destroyed) return;
      connection.exchanges.delete(exchange);
      onEnd(exchange);
      if (connection.exchanges.size > 0) return;
      connection.next?.();
      if (lifecycle.stopping) closeIfIdle(connection);
    });
    return true;
  }

  function whenIdle(connection: Connection, next: () => void): void {
    if (connection.exchanges.size === 0) next();
    else connection.next = next;
  }

  function isLast(exchange: Exchange): boolean {
    const { req } = exchange;
    if (hasBody(req) && !(req.complete && takesBody(req))) return true;
    return lifecycle.stopping && [...(connections.get(req.socket)?.exchanges ?? [])].at(-1) === exchange;
  }

  function closeIfIdle({ socket, exchanges, ending, bytesSeen }: Connection): void {
    if (exchanges.size === 0 && !ending && socket.bytesRead <= bytesSeen) socket.destroySoon();
  }

  function closeIdle(): void {
    for (const connection of connections.values()) closeIfIdle(connection);
  }

  function cutOff({ req }: Exchange, outcome: string): void {
    const connection = connections.get(req.socket);
    if (connection !== undefined) connection.cutFor = outcome;
    req.socket.destroy();
  }

  function cut(outcome: string): number {
    let exchanges = 0;
    for (const connection of connections.values()) {
      exchanges += connection.exchanges.size;
      connection.cutFor = outcome;
      connection.socket.destroy();
    }
    return exchanges;
  }

  async function empty(): Promise<void> {
    if (connections.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return { open, of: (socket) => connections.get(socket), begin, whenIdle, isLast, closeIdle, cutOff, cut, empty };
}
