import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import { createDescriptorReserve, isOutOfDescriptors } from './descriptors.ts';

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

/**
 * A connector with a timer of its own, since undici's is up to a second late, and with file descriptors that it holds back for
 * when there are no others.
 */
export function createConnector({ timeoutMs, allowH2 }: ConnectorOptions): Connector {
  // Its documentation says that it returns the socket at once; its types do not.
  const open = buildConnector({ allowH2, timeout: 0 }) as (...args: Parameters<buildConnector.connector>) => Socket;
  const opening = new Set<Socket>();
  const reserve = createDescriptorReserve();

  const connect: buildConnector.connector = (options, callback) => {
    const socket = open(options, (...result) => {
      clearTimeout(timer);
      opening.delete(socket);
      if (!isOutOfDescriptors(result[0])) socket.once('close', reserve.refill);
      else if (reserve.release()) return connect(options, callback);
      callback(...result);
    });
    opening.add(socket);
    const timer = setTimeout(() => socket.destroy(new errors.ConnectTimeoutError()), timeoutMs);
  };

  return {
    connect,
    close() {
      reserve.close();
      for (const socket of opening) socket.destroy(new errors.ClientDestroyedError());
    },
  };
}
