import type { Exchange } from '../exchange.ts';

/** Responses that were sent and that clients have not read yet, over all connections of one listener. */
export interface WriteBacklog {
  /** Counts a response that was just sent. */
  add(exchange: Exchange): void;
  /** Forgets a response that was read, or whose connection has closed. */
  remove(exchange: Exchange): void;
}

/**
 * Bounds what waits to be read to `maxBytes`: beyond, `abort` is called for the exchanges whose clients have read nothing
 * for longest. A client that has read a part of its response since the last check is slow, and is aborted only where all
 * are.
 */
export function createWriteBacklog(maxBytes: number, abort: (exchange: Exchange) => void): WriteBacklog {
  /** Bytes that the system had accepted at the last check, by exchange; the longest without progress comes first. */
  const accepted = new Map<Exchange, number>();
  let total = 0;

  function remove(exchange: Exchange): void {
    if (accepted.delete(exchange)) total -= exchange.bytes;
  }

  function drop(exchange: Exchange): void {
    remove(exchange);
    abort(exchange);
  }

  function shed(): void {
    // An exchange that is moved to the end comes up a second time, and has made no progress by then.
    for (const [exchange, before] of accepted) {
      if (total <= maxBytes) return;
      const now = acceptedBytes(exchange);
      if (now === before) drop(exchange);
      else {
        accepted.delete(exchange);
        accepted.set(exchange, now);
      }
    }
  }

  return {
    remove,
    add(exchange) {
      if (exchange.bytes === 0) return;
      total += exchange.bytes;
      if (total > maxBytes) shed();
      accepted.set(exchange, acceptedBytes(exchange));
      // A response that is larger by itself.
      if (total > maxBytes) drop(exchange);
    },
  };
}

function acceptedBytes({ req: { socket } }: Exchange): number {
  return socket.bytesWritten - socket.writableLength;
}
