import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { startTimer } from '../../kernel/deadline.ts';
import { abortConnection } from '../connection/aborted.ts';
import type { HttpRequest } from '../http-request.ts';
import { hasBody } from '../request/request-head.ts';
import type { HttpResponse, StreamBody } from './http-response.ts';

/** How long a stream stays open that has to end. */
const LINGER_MS = 1000;

/**
 * Sends a response. Throws where Node refuses a header: another response can be sent then. Returns the end of a stream, which
 * rejects as its body does. A client that takes no piece of a stream for the service's `sendTimeoutMs` is disconnected.
 */
export function sendResponse(request: HttpRequest, response: HttpResponse): Promise<void> | undefined {
  const { res, responseHeaders, record } = request;
  const { status, body } = response;
  const headers: string[] = [];
  for (const name in responseHeaders) headers.push(name, responseHeaders[name] as string);
  for (const name in response.headers) headers.push(name, response.headers[name] as string);
  if (closesConnection(request)) res.setHeader('Connection', 'close');
  if (typeof body === 'function') {
    record.headMs = performance.now() - record.startedAt;
    res.writeHead(status, headers);
    return sendStream(body, request);
  }
  const pieces = body === undefined || Buffer.isBuffer(body) ? [body] : body;
  const bytes = pieces.reduce((sum, piece) => sum + (piece === undefined ? 0 : Buffer.byteLength(piece)), 0);
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(bytes));
  res.writeHead(status, headers);
  if (record.method !== 'HEAD') record.bytes = bytes;
  // Node sends a text together with the head.
  for (const piece of pieces.slice(0, -1)) res.write(piece);
  res.end(pieces.at(-1));
  return undefined;
}

/**
 * Whether a response is the last one of its connection: the body of the request was not read or not expected, so that bytes
 * behind it may belong to it; or `Upgrade`, behind which Node drops the bytes of the same packet (RFC 9110, section 7.8).
 */
function closesConnection({ req, takesBody }: HttpRequest): boolean {
  if (req.headers.upgrade !== undefined) return true;
  return hasBody(req) && !(req.complete && takesBody);
}

async function sendStream(body: StreamBody, request: HttpRequest): Promise<void> {
  const { req, res, record, ending, service } = request;
  const cut = () => abortConnection(req.socket, 'response_unread');
  async function write(piece: Buffer): Promise<void> {
    record.bytes += piece.length;
    const cancelTimer = startTimer(service.sendTimeoutMs, cut);
    const error = await new Promise((resolve) => res.write(piece, resolve));
    cancelTimer();
    if (!error) return;
    // The client left before Node noticed that.
    request.markDisconnected();
    throw error;
  }
  // A client that has stopped reading must not delay a shutdown.
  const end = () => res.once('close', startTimer(LINGER_MS, cut));
  ending.addEventListener('abort', end, { once: true });
  res.once('close', () => ending.removeEventListener('abort', end));
  await body(write);
  res.end();
}
