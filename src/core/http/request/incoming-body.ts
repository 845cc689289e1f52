import type { IncomingMessage } from 'node:http';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';
import { createKeyedCounter } from '../../kernel/quotas.ts';
import type { HttpRequest } from '../http-request.ts';
import { announcedBytes, hasBody } from './request-head.ts';

/** How long a response waits for a body that nothing reads to arrive. */
const DISCARD_MS = 1000;

const NO_ROOM = 'Too many request bodies are waiting already. Try again after Retry-After.';

const READ_BEFORE = 'The body was read before the request reached Portico: mount it before what parses bodies.';

const BOUND = 'http.maxHeldBodyBytes';

export const NO_BODY = Buffer.alloc(0);

/** Bytes of request bodies in memory, over all connections of one listener. */
export type HeldBytes = ReturnType<typeof createHeldBytes>;

/**
 * Counts what has arrived: announced lengths of idle connections would keep all others out. Bodies of unverified callers of one
 * address have half of the room, whatever tokens they make up.
 */
export function createHeldBytes(maxBytes: number) {
  const ofAddresses = createKeyedCounter();
  let total = 0;

  return {
    /** Returns how to add to what one request holds, and to release it; its response closes at the latest. */
    of({ res }: Pick<HttpRequest, 'res'>, address: string | undefined) {
      let held = 0;
      const release = () => {
        ofAddresses.release(address, held);
        total -= held;
        held = 0;
      };
      res.once('close', release);
      return {
        /** Throws `overloaded` beyond the bound. */
        hold(bytes: number): void {
          const more = Math.max(bytes, 1);
          if (total + more > maxBytes) throw new GatewayError('overloaded', { detail: NO_ROOM, bound: BOUND });
          if (address !== undefined && ofAddresses.taken(address) + more > maxBytes / 2) {
            const reason = `half of ${BOUND} is reached by one address`;
            throw new GatewayError('overloaded', { detail: NO_ROOM, bound: BOUND, reason });
          }
          ofAddresses.take(address, bytes);
          total += bytes;
          held += bytes;
        },
        release,
      };
    },
  };
}

/** Bodies of which the rest will not arrive: it does not parse, or comes too slowly. */
const broken = new WeakMap<IncomingMessage, GatewayError>();
const readers = new WeakMap<IncomingMessage, (error: GatewayError) => void>();

/** Ends a body that will not arrive: who reads it now or later gets this error. */
export function failBody(req: IncomingMessage, error: GatewayError): void {
  broken.set(req, error);
  readers.get(req)?.(error);
}

/**
 * Reads the whole body of a request. `hold` is called with the bytes of each piece before it is kept. Throws `too_large` as soon
 * as the body is known to be larger than `maxBytes` (`bound`: its setting), `invalid_request` for one that does not
 * parse, and `request_timeout` for one that does not arrive in time. Rejects where the client hangs up.
 */
export async function readBody(
  { req, res }: Pick<HttpRequest, 'req' | 'res'>,
  { maxBytes, bound }: { readonly maxBytes: number; readonly bound?: string },
  hold: (bytes: number) => void,
): Promise<Buffer> {
  // For a request without a body Node creates no stream that would end (`optimizeEmptyRequests`).
  if (!hasBody(req)) return NO_BODY;
  const tooLarge = () =>
    errorWithDetail('too_large', `The request body can have at most ${maxBytes} bytes.`, { bound });
  if (announcedBytes(req) > maxBytes) throw tooLarge();
  hold(0);
  const failed = broken.get(req);
  if (failed !== undefined) throw failed;
  // Nearly all have arrived with their head.
  if (req.complete) {
    if (req.readableDidRead) throw new Error(READ_BEFORE);
    const whole: Buffer = req.read() ?? NO_BODY;
    if (whole.length > maxBytes) throw tooLarge();
    hold(whole.length);
    return whole;
  }
  if (isWaitingToSend(req)) res.writeContinue();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let body: Buffer = NO_BODY;
  let bytes = 0;
  // One buffer that grows: a list of chunks of one byte each would take hundreds of times the bytes.
  function take(chunk: Buffer): void {
    const end = bytes + chunk.length;
    if (end > maxBytes) throw tooLarge();
    hold(chunk.length);
    if (bytes === 0) body = chunk;
    else if (end > body.length) body = Buffer.concat([body.subarray(0, bytes), chunk], Math.min(2 * end, maxBytes));
    else chunk.copy(body, bytes);
    bytes = end;
  }
  readers.set(req, reject);
  req.on('error', reject);
  req.on('end', () => resolve(body.subarray(0, bytes)));
  req.on('data', (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (error) {
      reject(error);
    }
  });
  try {
    return await promise;
  } finally {
    readers.delete(req);
    if (!req.readableEnded) req.removeAllListeners('data');
    // The listeners that are left hold it as long as the request is open.
    body = NO_BODY;
  }
}

/** Whether the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1). Other expectations are ignored. */
function isWaitingToSend({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

/**
 * Discards a body that was not read, for a second at most. A connection that is closed with unread bytes is reset, and the
 * client may then lose the response. A client that waits for `100` before it sends has sent none.
 */
export function discardBody(req: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (isWaitingToSend(req) || broken.has(req)) {
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
