import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

export interface ConnectorOptions {
  /** How long one connection may take to open, TLS included. */
  readonly timeoutMs: number;
  readonly allowH2: boolean;
}

/** Opens connections for a pool. */
export interface Connector {
  readonly connect: buildConnector.connector;
  /** Ends the connections that are still opening, which a pool that is destroyed leaves to themselves. */
  close(): void;
}

/** A connector with a timer of its own: undici's is up to a second late. */
export function createConnector({ timeoutMs, allowH2 }: ConnectorOptions): Connector {
  // Its documentation says that it returns the socket at once; its types do not.
  const open = buildConnector({ allowH2, timeout: 0 }) as (...args: Parameters<buildConnector.connector>) => Socket;
  const opening = new Set<Socket>();
  return {
    connect(options, callback) {
      const socket = open(options, (...result) => {
        clearTimeout(timer);
        opening.delete(socket);
        callback(...result);
      });
      opening.add(socket);
      const timer = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError()), timeoutMs);
    },
    close() {
      for (const socket of opening) socket.destroy(new errors.ClientDestroyedError());
    },
  };
}
