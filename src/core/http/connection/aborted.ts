import type { Socket } from 'node:net';

/** Why this side has closed a connection. Node keeps it as `socket.errored`. */
class ConnectionAborted extends Error {
  readonly outcome: string;

  constructor(outcome: string) {
    super(outcome);
    this.outcome = outcome;
  }
}

/** Destroys a connection. `outcome` is logged for the request that ends with it. */
export function abortConnection(socket: Socket, outcome: string): void {
  socket.destroy(new ConnectionAborted(outcome));
}

/** Returns the outcome with which {@link abortConnection} was called. */
export function abortedFor({ errored }: Socket): string | undefined {
  return errored instanceof ConnectionAborted ? errored.outcome : undefined;
}
