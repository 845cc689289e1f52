import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { emitLimitReached } from '../kernel/join-events.ts';
import { answerBatch } from './batch.ts';
import { clientOf } from './client-record.ts';
import { createDispatch, type Dispatched, type DispatchOptions } from './dispatch.ts';
import { type Envelope, type RpcHeaders, readEnvelope } from './envelope.ts';
import { loggedMethod, parseMessage } from './message.ts';
import type { RequestContext } from './request-context.ts';
import { createRecordError, writeError } from './rpc-errors.ts';

/** A `POST` with its credential and body. */
export interface RpcRequest extends RequestContext {
  readonly headers: RpcHeaders;
  readonly body: Buffer;
  /** Counts the further messages of a batch; rejects if they exceed the caller's limit. @default no limit */
  readonly countMore: (messages: number) => Promise<void> | void;
}

/** A response over HTTP. */
export interface RpcResponse {
  readonly status: number;
  /** Names and values, alternately. */
  readonly headers: readonly string[];
  /** In one piece, or several that are sent in order, or sent while it is made. */
  readonly body: Buffer | readonly Buffer[] | RpcStream;
}

/** Sends a body. `write` resolves when a piece was handed to the system, and rejects when the client is gone. */
export type RpcStream = (write: (piece: Buffer) => Promise<void>) => Promise<void>;

/**
 * Answers any body. Without a caller, it rejects with `credential_missing`, except for public lists; when the caller
 * disconnects, with the signal's reason.
 */
export type RpcHandler = (request: RpcRequest) => Promise<RpcResponse>;

export interface RpcHandlerOptions extends DispatchOptions {
  /** Objects, lists and members of one body. */
  readonly maxMessageValues: number;
  /** Messages of one batch. */
  readonly maxBatch: number;
  /** Bytes of all responses to one batch, except the first, which may be one read. */
  readonly maxAnswerBytes: number;
  /** Interval of the comments in a stream. */
  readonly keepAliveMs: number;
}

const JSON_HEADERS = ['Content-Type', 'application/json', 'Cache-Control', 'no-store'];
/** nginx would collect events until its buffer is full. */
const STREAM_HEADERS = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];
/** Prevents that a proxy, or the inactivity timer of the listener, closes a silent stream. */
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
const ACCEPTED: RpcResponse = { status: 202, headers: [], body: Buffer.alloc(0) };

/** Methods that only describe what is offered. */
const PUBLIC: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'server/discover'],
  ...['resources/list', 'resources/templates/list', 'tools/list'],
]);

/** JSON-RPC over Streamable HTTP, stateless, in all supported revisions. */
export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const { maxMessageValues, maxBatch, maxAnswerBytes, keepAliveMs, events } = options;
  const dispatch = createDispatch(options);
  const batchOptions = { dispatch, recordError: createRecordError(events), maxAnswerBytes };

  function refuse(error: unknown, message: unknown, { record }: RpcRequest): RpcResponse {
    if (!(error instanceof GatewayError)) throw error;
    record.error = error;
    emitLimitReached(events, error, record);
    return refusal(error, record.requestId, message);
  }

  return async (request) => {
    const { headers, body, caller, record } = request;
    let message: unknown;
    let envelope: Envelope;
    try {
      message = parseMessage(body, maxMessageValues);
      record.rpc = loggedMethod(message);
      record.client = clientOf(message, headers, caller);
      envelope = readEnvelope(message, headers, maxBatch);
    } catch (error) {
      return refuse(error, message, request);
    }
    if (caller === undefined && !envelope.requests.every(isPublic)) throw new GatewayError('credential_missing');
    try {
      if (Array.isArray(message) && message.length > 1) await request.countMore(message.length - 1);
    } catch (error) {
      return refuse(error, message, request);
    }
    const { requests, revision, isBatch } = envelope;
    const [first] = requests;
    if (first === undefined) return ACCEPTED;
    if (!isBatch) return responseTo(await dispatch(first, revision, request), keepAliveMs);
    return { status: 200, headers: JSON_HEADERS, body: await answerBatch(requests, revision, request, batchOptions) };
  };
}

/** Returns the error response to a whole POST; `message` is its parsed part. */
export function refusal(error: GatewayError, requestId: string, message?: unknown): RpcResponse {
  const { status, retryAfterSeconds } = error;
  const headers =
    retryAfterSeconds === undefined ? JSON_HEADERS : [...JSON_HEADERS, 'Retry-After', String(retryAfterSeconds)];
  return { status, headers, body: writeError(error, message, requestId) };
}

function responseTo({ status, response, challenge, stream }: Dispatched, keepAliveMs: number): RpcResponse {
  if (stream !== undefined) return { status, headers: STREAM_HEADERS, body: eventStream(stream, keepAliveMs) };
  const headers = challenge === undefined ? JSON_HEADERS : [...JSON_HEADERS, 'WWW-Authenticate', challenge];
  return { status, headers, body: response };
}

/** Server-sent events: notifications, and last the response. */
function eventStream(stream: NonNullable<Dispatched['stream']>, keepAliveMs: number): RpcStream {
  return async (write) => {
    const alive = setInterval(() => write(KEEP_ALIVE).catch(() => {}), keepAliveMs);
    const send = (message: string | Buffer) => write(Buffer.from(`event: message\ndata: ${message}\n\n`));
    try {
      await send(Buffer.concat(await stream((notification) => send(JSON.stringify(notification)))));
    } finally {
      clearInterval(alive);
    }
  };
}

function isPublic({ method }: JSONRPCRequest): boolean {
  return PUBLIC.has(method);
}
