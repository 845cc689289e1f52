import type { Socket } from 'node:net';

/** A connection, as far as its exchanges wait for each other. */
export interface Lined {
  readonly socket: Socket;
  /** Exchanges that may go on. Those behind them wait in `line`. */
  running: number;
  readonly line: (() => void)[];
  /** Bytes of responses that were sent and that the client has not yet read. */
  readonly unsentBytes: number;
  /** What to do about a request that did not arrive in time, since this side did not read it. */
  overdue: (() => void) | undefined;
}

export interface LineBounds {
  /** Exchanges of one connection that are worked on at once. It is not read from while more wait. */
  readonly maxPipelined: number;
  /** Exchanges that wait in the lines of all connections: what arrives in one piece is parsed to its end. */
  readonly maxPipelinedWaiting: number;
  /** Unread bytes of one connection beyond which no further exchange of it is begun. */
  readonly maxConnectionUnsentBytes: number;
}

/** How long what was sent meanwhile may take to arrive on a connection that is read from again. */
const ARRIVAL_MS = 1000;

/** Has the exchanges of a connection wait for each other. */
export interface Lines {
  /** Sees to a new connection. */
  watch(connection: Lined): void;
  /** Whether another exchange would have to wait where there is no room for it. */
  isFull(connection: Lined): boolean;
  /** Resolves once it is the turn of one more exchange; `undefined` where it is so at once. */
  turnOf(connection: Lined): Promise<void> | undefined;
  /** Call it when an exchange has been answered. */
  advance(connection: Lined): void;
  /** Lets all go whose connection is closed. */
  dissolve(connection: Lined): void;
}

export function createLines({ maxPipelined, maxPipelinedWaiting, maxConnectionUnsentBytes }: LineBounds): Lines {
  let waiting = 0;

  function hasRoom({ running, unsentBytes }: Lined): boolean {
    return running < maxPipelined && unsentBytes <= maxConnectionUnsentBytes;
  }

  function readOn(connection: Lined): void {
    connection.socket.resume();
    const { overdue } = connection;
    if (overdue === undefined) return;
    setTimeout(() => {
      if (connection.overdue === overdue) overdue();
    }, ARRIVAL_MS).unref();
  }

  return {
    watch({ socket, line }) {
      // A request that is parsed has Node read on a moment later, although the socket was paused meanwhile.
      socket.on('resume', () => {
        if (line.length === 0) return;
        if (socket.isPaused()) socket.emit('pause');
        else socket.pause();
      });
    },
    isFull: (connection) => waiting >= maxPipelinedWaiting && !hasRoom(connection),
    turnOf(connection) {
      if (hasRoom(connection)) {
        connection.running += 1;
        return undefined;
      }
      waiting += 1;
      connection.socket.pause();
      return new Promise((resolve) => connection.line.push(resolve));
    },
    advance(connection) {
      const { line } = connection;
      connection.running -= 1;
      if (line.length === 0) return;
      while (line.length > 0 && hasRoom(connection)) {
        connection.running += 1;
        waiting -= 1;
        line.shift()?.();
      }
      if (line.length === 0) readOn(connection);
    },
    dissolve({ line }) {
      waiting -= line.length;
      for (const go of line.splice(0)) go();
    },
  };
}
