// The global of this name is a getter: 0.7 % of a cached read.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { startTimer } from '../../kernel/deadline.ts';
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from '../../kernel/node-http.ts';
import type { Exchange } from '../exchange.ts';

/** A response without the headers that every response has. */
export interface HttpResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Further headers as lines, of values that need no check: `ETag: W/"1"\r\n`. */
  readonly lines?: string;
  /** One buffer, or several pieces that are sent one after the other, or a stream; `undefined` where the status allows none (304). */
  readonly body: Buffer | readonly Piece[] | StreamBody | undefined;
  /** `Content-Security-Policy` of a page. @default nothing may be loaded */
  readonly policy?: string;
}

/** A text at the beginning is sent in one piece with the head. */
type Piece = Buffer | string;

export interface WholeResponse extends HttpResponse {
  readonly body: Buffer;
}

/** Sends a body while it is made. `write` resolves when a piece was handed to the system, and rejects when the client is gone. */
export type StreamBody = (write: (piece: Buffer) => Promise<void>) => Promise<void>;

/** Security headers of every response. Alternating names and values. */
export const ALWAYS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];

/** `Content-Security-Policy` of a response that is no page. */
export const LOAD_NOTHING = "default-src 'none'; frame-ancestors 'none'";

const STEP_BYTES = 1_048_576;

/** How long a connection stays open after its last response, so that the client can read that. */
const LINGER_MS = 1000;

/** The parts of Node's `ServerResponse` by which its `writeHead` ends. */
interface Framed {
  _hasBody: boolean;
  /** Adds `Date`, what frames the body, and what becomes of the connection. */
  _storeHeader(lines: string, framing: readonly string[]): void;
}

/**
 * Does what Node's `writeHead` does, with lines that are whole: it would check and join each of some fifteen names and values
 * again, which is a tenth of a cached read (docs/decisions/0074).
 */
function writeHead(res: Exchange['res'], status: number, lines: string, framing: readonly string[]): void {
  const framed = res as unknown as Framed;
  res.statusCode = status;
  // RFC 9110, section 6.4.1.
  if (status === 204 || status === 304) framed._hasBody = false;
  framed._storeHeader(lines, framing);
}

/** Status line and constant headers, by status and policy. All are of closed lists. */
const STARTS = new Map<string | number, string>();

function startOf(status: number, policy: string | undefined): string {
  const key = policy === undefined ? status : `${status} ${policy}`;
  const known = STARTS.get(key);
  if (known !== undefined) return known;
  const phrase = STATUS_CODES[status];
  if (phrase === undefined) throw new RangeError(`There is no status ${status}.`);
  const constant = linesOf([...ALWAYS, 'Content-Security-Policy', policy ?? LOAD_NOTHING]);
  const start = `HTTP/1.1 ${status} ${phrase}\r\n${constant}`;
  STARTS.set(key, start);
  return start;
}

/** Names that Node has accepted. The code sends few different ones. */
const NAMES = new Set<string>();

/** Throws where Node refuses a name or a value. */
function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (!NAMES.has(name)) {
      validateHeaderName(name);
      NAMES.add(name);
    }
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Sends a response, of a stream only the head. Throws where Node refuses a header; `isLast` closes the connection. */
export function send(exchange: Exchange, response: HttpResponse, isLast: boolean): void {
  const { status, headers, lines: more = '', body, policy } = response;
  const { res, requestId, method, vary, originHeaders, responseHeaders } = exchange;
  let lines = `${startOf(status, policy)}X-Request-Id: ${requestId}\r\n${more}${linesOf(headers)}`;
  if (vary !== undefined) lines += `Vary: ${vary}\r\n`;
  if (originHeaders !== undefined) lines += linesOf(originHeaders);
  lines += linesOf(Object.entries(responseHeaders).flat());
  const isStream = typeof body === 'function';
  const framing = body === undefined || isStream ? [] : ['Content-Length', String(bytesOf(body))];
  if (isLast) framing.push('Connection', 'close');
  writeHead(res, status, lines, framing);
  exchange.status = status;
  if (isStream) return;
  if (body === undefined || method === 'HEAD') {
    res.end();
    return;
  }
  const bytes = bytesOf(body);
  exchange.bytes = bytes;
  const pieces = Buffer.isBuffer(body) ? [body] : body;
  if (bytes > STEP_BYTES) writeInSteps(exchange, pieces);
  else {
    const last = pieces.length - 1;
    for (let index = 0; index < last; index += 1) res.write(pieces[index]);
    res.end(pieces[last]);
  }
}

/**
 * Sends the body of a stream, whose head was sent, and ends the response. Rejects where the body does. What the request has held
 * for its own body is released, since a stream stays open. `abort` closes the connection of a client that takes no piece for
 * `sendTimeoutMs`.
 */
export async function sendStream(exchange: Exchange, body: StreamBody, sendTimeoutMs: number, abort: () => void) {
  const { res } = exchange;
  exchange.openedMs = performance.now() - exchange.begun;
  exchange.release?.();
  exchange.release = undefined;
  // A client that has stopped reading must not delay a shutdown.
  let callOffEnd = () => {};
  const end = () => {
    callOffEnd = startTimer(LINGER_MS, abort);
  };
  exchange.ending.addEventListener('abort', end, { once: true });
  try {
    await body(async (piece) => {
      exchange.bytes += piece.length;
      const callOff = startTimer(sendTimeoutMs, abort);
      const error = await new Promise((resolve) => res.write(piece, resolve));
      callOff();
      // Before the connection has closed: nothing more must be written meanwhile.
      if (error) exchange.abandon();
      exchange.signal.throwIfAborted();
    });
    exchange.outcome = exchange.error?.code ?? 'ok';
    res.end();
  } finally {
    exchange.ending.removeEventListener('abort', end);
    callOffEnd();
  }
}

/**
 * Writes a long body in steps, each in its own turn of the event loop: a client that reads as fast as it is written to would
 * have the system take all of it at once, at 2 ms for each MiB. What is left when a FIN arrives is handed to Node at once,
 * which closes the connection behind it.
 */
function writeInSteps({ req: { socket }, res }: Exchange, pieces: readonly Piece[]): void {
  const steps = pieces.flatMap(cut);
  const write = () => res.write(steps.shift());
  const finish = () => {
    while (steps.length > 0) write();
    res.end();
  };
  const next = () => {
    if (res.destroyed || res.writableEnded) return;
    if (steps.length === 1) finish();
    else if (write()) setImmediate(next);
    else res.once('drain', () => setImmediate(next));
  };
  socket.prependOnceListener('end', finish);
  res.once('close', () => socket.off('end', finish));
  next();
}

function cut(piece: Piece): Piece[] {
  if (typeof piece === 'string') return [piece];
  const steps: Buffer[] = [];
  for (let from = 0; from < piece.length; from += STEP_BYTES) steps.push(piece.subarray(from, from + STEP_BYTES));
  return steps;
}

/** The socket must be read meanwhile: destroyed with unread bytes it would be reset, and the client could lose the response. */
export function sendOnSocket(socket: Socket, { status, headers, body }: WholeResponse, requestId: string): void {
  const framing = ['Content-Length', String(bytesOf(body)), 'Date', new Date().toUTCString(), 'Connection', 'close'];
  const head = `${startOf(status, undefined)}${linesOf(['X-Request-Id', requestId, ...headers, ...framing])}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function bytesOf(body: Buffer | readonly Piece[]): number {
  if (Buffer.isBuffer(body)) return body.length;
  let bytes = 0;
  for (const piece of body) bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  return bytes;
}

/**
 * Bounds unread responses, over all connections of a listener. Beyond, those are aborted whose clients have read nothing for longest.
 * A client that has read a part of its response since the last check is slow, and is aborted only where all are.
 */
export function createWriteBacklog(maxBytes: number, abort: (exchange: Exchange) => void) {
  /**
   * The longest without progress first. Not a `Map`: V8 would keep the exchanges of its earlier tables until a full garbage
   * collection. Nearly all clients have read a response before the next one is sent.
   */
  let unread: Exchange[] = [];
  let total = 0;

  /** Forgets a response that was read, or whose connection has closed. */
  function remove(exchange: Exchange): void {
    const at = unread.lastIndexOf(exchange);
    if (at === -1) return;
    unread.splice(at, 1);
    total -= exchange.bytes;
  }

  /** Takes those without progress first, and after one look at each the others, which have made none since. */
  function shed(): void {
    const dropped: Exchange[] = [];
    const slow: Exchange[] = [];
    const drop = (exchange: Exchange) => {
      total -= exchange.bytes;
      dropped.push(exchange);
    };
    for (const exchange of unread) {
      if (total <= maxBytes) break;
      const now = acceptedBytes(exchange);
      if (now === exchange.acceptedBytes) {
        drop(exchange);
      } else {
        exchange.acceptedBytes = now;
        slow.push(exchange);
      }
    }
    unread = [...unread.slice(dropped.length + slow.length), ...slow];
    let first = 0;
    for (; first < unread.length && total > maxBytes; first += 1) drop(unread[first] as Exchange);
    unread = unread.slice(first);
    for (const exchange of dropped) abort(exchange);
  }

  function add(exchange: Exchange): void {
    if (exchange.bytes === 0) return;
    total += exchange.bytes;
    if (total > maxBytes) shed();
    exchange.acceptedBytes = acceptedBytes(exchange);
    unread.push(exchange);
    // A response that is larger by itself.
    if (total > maxBytes) {
      remove(exchange);
      abort(exchange);
    }
  }

  return { add, remove };
}

function acceptedBytes({ req: { socket } }: Exchange): number {
  return socket.bytesWritten - socket.writableLength;
}
