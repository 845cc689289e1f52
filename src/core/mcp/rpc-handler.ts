import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../kernel/errors.ts';
import { clientOf } from './client-record.ts';
import { createDispatch, type Dispatched, type DispatchOptions } from './dispatch.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { loggedMethod, parseMessage } from './message.ts';
import type { Pieces, RequestContext } from './request-context.ts';
import { createRecordError, writeError } from './rpc-errors.ts';

export interface RpcResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In one piece, or several that are sent in order, or sent while it is made. */
  readonly body: Buffer | Pieces | RpcStream;
}

/** Sends a body. `write` resolves when a piece was handed to the system, and rejects when the client is gone. */
type RpcStream = (write: (piece: Buffer) => Promise<void>) => Promise<void>;

/** Rejects with `credential_missing` without a caller, except for public lists, or with the signal's reason. */
export type RpcHandler = (context: RequestContext, headers: IncomingHttpHeaders, body: Buffer) => Promise<RpcResponse>;

export interface RpcHandlerOptions extends DispatchOptions {
  readonly maxMessageValues: number;
  readonly keepAliveMs: number;
}

const JSON_HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until its buffer is full.
  'X-Accel-Buffering': 'no',
};
/** Prevents that a proxy, or the inactivity timer of the listener, closes a silent stream. */
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
const ACCEPTED: RpcResponse = { status: 202, headers: {}, body: Buffer.alloc(0) };

/**
 * Methods that read as the caller. Others describe what is offered, or do not exist: some hosts list prompts of every server, and
 * would sign in, or wait for ever, after 401.
 */
const READING: ReadonlySet<string> = new Set(['resources/read', 'subscriptions/listen', 'tools/call']);

/** JSON-RPC over Streamable HTTP, stateless, in all supported revisions. */
export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const { maxMessageValues, keepAliveMs, events } = options;
  const dispatch = createDispatch(options);
  const recordError = createRecordError(events);

  return async (context, headers, body) => {
    const { caller, record } = context;
    let message: unknown;
    let envelope: Envelope;
    try {
      message = parseMessage(body, maxMessageValues);
      record.rpc = loggedMethod(message);
      record.client = clientOf(message, headers, caller);
      envelope = readEnvelope(message, headers);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return refusal(recordError(error, context), record.requestId, message);
    }
    const { request, revision } = envelope;
    if (request === undefined) return ACCEPTED;
    if (caller === undefined && READING.has(request.method)) throw new GatewayError('credential_missing');
    return responseTo(await dispatch(request, revision, context), keepAliveMs);
  };
}

/** The error response to a whole POST; `message` is its parsed part. */
function refusal(error: GatewayError, requestId: string, message?: unknown): RpcResponse {
  const { status, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  return { status, headers: { ...JSON_HEADERS, ...retry }, body: writeError(error, message, requestId) };
}

function responseTo({ status, response, challenge, stream }: Dispatched, keepAliveMs: number): RpcResponse {
  if (stream !== undefined) return { status, headers: STREAM_HEADERS, body: eventStream(stream, keepAliveMs) };
  const challenged = challenge === undefined ? {} : { 'WWW-Authenticate': challenge };
  return { status, headers: { ...JSON_HEADERS, ...challenged }, body: response };
}

function eventStream(stream: NonNullable<Dispatched['stream']>, keepAliveMs: number): RpcStream {
  return async (write) => {
    const alive = setInterval(() => write(KEEP_ALIVE).catch(() => {}), keepAliveMs);
    const send = (message: string) => write(Buffer.from(`event: message\ndata: ${message}\n\n`));
    try {
      const response = await stream((notification) => send(JSON.stringify(notification)));
      await send(response.join(''));
    } finally {
      clearInterval(alive);
    }
  };
}
