import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';

/** How long a response waits for a body that nothing reads to arrive. */
const DISCARD_MS = 1000;

/** From so many chunks on, they must hold so many bytes on average: 10,000 chunks of 64 KiB take 12 ms of one turn to parse. */
const MANY_CHUNKS = 1024;
const MIN_CHUNK_BYTES = 8;

const TINY_CHUNKS = `The body has too many chunks of less than ${MIN_CHUNK_BYTES} bytes. Send fewer and larger ones.`;
const NO_ROOM = 'Too many request bodies are waiting already. Try again after Retry-After.';

export const NO_BODY = Buffer.alloc(0);

/** Bytes of request bodies in memory, over all connections of one listener. */
export type HeldBytes = ReturnType<typeof createHeldBytes>;

/** Counts what has arrived, over all connections of a listener: announced lengths of idle connections would keep all others out. */
export function createHeldBytes(maxBytes: number) {
  let total = 0;
  return {
    /** Adds to what an exchange holds until it ends. Throws `overloaded` where there is no room for more. */
    take(exchange: Pick<Exchange, 'heldBytes' | 'release'>, bytes: number): void {
      if (total + Math.max(bytes, 1) > maxBytes) {
        const bound = 'http.maxHeldBodyBytes';
        throw new GatewayError('overloaded', { detail: NO_ROOM, bound });
      }
      exchange.heldBytes += bytes;
      total += bytes;
      exchange.release ??= () => {
        total -= exchange.heldBytes;
      };
    },
  };
}

/**
 * Reads the whole body of a request, and holds it until the exchange ends. Throws `too_large` as soon as it is known to be
 * larger than `maxBytes` (`bound`: its setting), `overloaded` where other bodies leave no room, `invalid_request` for one in tiny
 * chunks or that does not parse, and `request_timeout` for one that does not arrive in time. Rejects where the client hangs up.
 */
export async function readBody(
  exchange: Exchange,
  { maxBytes, bound }: { readonly maxBytes: number; readonly bound?: string },
  held: HeldBytes,
): Promise<Buffer> {
  const { req, res, fields, hasBody, announcedBytes } = exchange;
  // For a request without a body Node creates no stream that would end (`optimizeEmptyRequests`).
  if (!hasBody) return NO_BODY;
  const tooLarge = () => explained('too_large', `The request body can have at most ${maxBytes} bytes.`, { bound });
  if (announcedBytes > maxBytes) throw tooLarge();
  held.take(exchange, 0);
  if (fields.expect !== undefined) res.writeContinue();
  if (exchange.bodyError !== undefined) throw exchange.bodyError;
  // It arrived together with the head: without listeners, 3 % of a cached `tools/call` are saved.
  if (announcedBytes > 0 && req.readableLength === announcedBytes) {
    held.take(exchange, announcedBytes);
    const body: Buffer = req.read();
    // Node reports the end of the request after that.
    req.resume();
    exchange.isBodyRead = true;
    return body;
  }
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let body: Buffer = NO_BODY;
  let bytes = 0;
  let chunks = 0;
  exchange.onBodyError = reject;
  req.on('error', reject);
  req.on('end', () => resolve(body.subarray(0, bytes)));
  // One buffer that grows: a list of chunks of one byte each would take hundreds of times the bytes.
  req.on('data', (chunk: Buffer) => {
    try {
      const end = bytes + chunk.length;
      if (end > maxBytes) throw tooLarge();
      chunks += 1;
      if (chunks > MANY_CHUNKS && end < chunks * MIN_CHUNK_BYTES) {
        // The rest is not read, not even to be discarded.
        req.socket.pause();
        exchange.failBody(explained('invalid_request', TINY_CHUNKS));
        return;
      }
      held.take(exchange, chunk.length);
      if (bytes === 0) body = chunk;
      else if (end > body.length) body = Buffer.concat([body.subarray(0, bytes), chunk], Math.min(2 * end, maxBytes));
      else chunk.copy(body, bytes);
      bytes = end;
    } catch (error) {
      reject(error);
    }
  });
  try {
    return await promise;
  } finally {
    exchange.onBodyError = undefined;
    if (!req.readableEnded) req.removeAllListeners('data');
    // The listeners that are left hold it as long as the exchange is open.
    body = NO_BODY;
  }
}

/**
 * Discards a body that was not read, for a second at most. A connection that is closed with unread bytes is reset, and the
 * client may then lose the response. A client that waits for `100` before it sends has sent none.
 */
export function discardBody({ req, fields, bodyError }: Exchange): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (fields.expect !== undefined || bodyError !== undefined) {
    resolve();
  } else {
    const timer = setTimeout(resolve, DISCARD_MS);
    req.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    req.resume();
  }
  return promise;
}
