import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { HeldBytes } from './held-bytes.ts';

/** How long a response waits for a body that nothing reads to arrive. */
const DISCARD_MS = 1000;

/**
 * From so many chunks on, those of a body have to hold so many bytes on average. 64 KiB that arrive in one piece may be
 * 10,000 chunks, and take 12 ms to parse in one turn of the event loop.
 */
const MANY_CHUNKS = 1024;
const CRUMB_BYTES = 8;

const CRUMBS = `The body comes in chunks of less than ${CRUMB_BYTES} bytes. Send fewer and larger ones.`;

const NO_BODY = Buffer.alloc(0);

export interface BodyBound {
  readonly maxBytes: number;
  /** Key of the setting that it is. @default none */
  readonly bound?: string;
}

/**
 * The body of a request, whole. Throws `too_large` as soon as it is known to be larger than `maxBytes`, `invalid_request` for
 * one that comes in crumbs, and `request_timeout` or `invalid_request` where Node gives it up. Rejects where the caller hangs up. What is read is held
 * until the exchange ends: throws `overloaded` where others hold too much.
 */
export async function readBody(exchange: Exchange, { maxBytes, bound }: BodyBound, held: HeldBytes): Promise<Buffer> {
  const { req, res, fields, hasBody } = exchange;
  // Of a request without a body Node makes no stream that would end (`optimizeEmptyRequests`).
  if (!hasBody) return NO_BODY;
  const tooLarge = () =>
    new GatewayError('too_large', {
      detail: `The request body may hold ${maxBytes} bytes.`,
      bound,
    });
  if (Number(fields.contentLength ?? 0) > maxBytes) throw tooLarge();
  held.take(exchange, 0);
  // Behind another response, Node would write it between the head and the body of this one. No client waits for it
  // forever (RFC 9110, section 10.1.1).
  if (fields.expect !== undefined && res.socket !== null) res.writeContinue();
  if (exchange.bodyError !== undefined) throw exchange.bodyError;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let body: Buffer = NO_BODY;
  let bytes = 0;
  let chunks = 0;
  exchange.onBodyError = reject;
  req.on('error', reject);
  req.on('end', () => resolve(body.subarray(0, bytes)));
  // In one piece from the beginning: a list of chunks of one byte each would take hundreds of times the bytes.
  req.on('data', (chunk: Buffer) => {
    try {
      const end = bytes + chunk.length;
      if (end > maxBytes) throw tooLarge();
      chunks += 1;
      if (chunks > MANY_CHUNKS && end < chunks * CRUMB_BYTES) {
        // Nothing more of it is read, not even to be thrown away.
        req.socket.pause();
        exchange.failBody(new GatewayError('invalid_request', { detail: CRUMBS }));
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
    req.removeAllListeners('data');
  }
}

/**
 * Reads away a body that nothing has read, for a second at most. A connection that is closed while bytes lie unread in it
 * is reset, and then the client may never see the response. A client that waits for `100` before it sends has nothing on
 * its way.
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
