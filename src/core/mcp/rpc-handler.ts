import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { RequestRecord } from '../kernel/caller.ts';
import { explained, GatewayError, isOfCredential } from '../kernel/errors.ts';
import { emitLimitReached } from '../kernel/events.ts';
import { nextTurn } from '../kernel/turns.ts';
import { createDispatch, type Dispatch, type Dispatched, type DispatchOptions } from './dispatch.ts';
import { clientOf, type Envelope, type RpcHeaders, readEnvelope } from './envelope.ts';
import { loggedMethod, parseMessage } from './message.ts';
import { InnerContext, type Pieces, type RequestContext } from './request-context.ts';
import type { Revision } from './revisions.ts';
import { createRecordError, type RecordError, writeError } from './rpc-errors.ts';

export interface RpcRequest extends RequestContext {
  readonly headers: RpcHeaders;
  readonly body: Buffer;
  /** Counts the further messages of a batch; rejects if they exceed the caller's limit. @default no limit */
  readonly countMore: (messages: number) => Promise<void> | void;
}

export interface RpcResponse {
  readonly status: number;
  /** Names and values, alternately, beside those of `lines`. */
  readonly headers: readonly string[];
  readonly lines?: string;
  /** In one piece, or several that are sent in order, or sent while it is made. */
  readonly body: Buffer | Pieces | RpcStream;
}

/** Sends a body. `write` resolves when a piece was handed to the system, and rejects when the client is gone. */
export type RpcStream = (write: (piece: Buffer) => Promise<void>) => Promise<void>;

/** Rejects with `credential_missing` without a caller, except for public lists, or with the signal's reason. */
export type RpcHandler = (request: RpcRequest) => Promise<RpcResponse>;

export interface RpcHandlerOptions extends DispatchOptions {
  readonly maxMessageValues: number;
  readonly maxBatch: number;
  /** Bytes of all responses to one batch, except the first, which may be one read. */
  readonly maxAnswerBytes: number;
  readonly keepAliveMs: number;
}

const NO_HEADERS: readonly string[] = [];
const JSON_LINES = 'Content-Type: application/json\r\nCache-Control: no-store\r\n';
/** nginx would collect events until its buffer is full. */
const STREAM_LINES = 'Content-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n';
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
    if (caller === undefined && !envelope.requests.every(({ method }) => PUBLIC.has(method)))
      throw new GatewayError('credential_missing');
    try {
      if (Array.isArray(message) && message.length > 1) await request.countMore(message.length - 1);
    } catch (error) {
      return refuse(error, message, request);
    }
    const { requests, revision, isBatch } = envelope;
    const [first] = requests;
    if (first === undefined) return ACCEPTED;
    if (!isBatch) return responseTo(await dispatch(first, revision, request), keepAliveMs);
    const pieces = await answerBatch(requests, revision, request, batchOptions);
    return { status: 200, headers: NO_HEADERS, lines: JSON_LINES, body: pieces };
  };
}

/** The error response to a whole POST; `message` is its parsed part. */
export function refusal(error: GatewayError, requestId: string, message?: unknown): RpcResponse {
  const { status, retryAfterSeconds } = error;
  const headers = retryAfterSeconds === undefined ? NO_HEADERS : ['Retry-After', String(retryAfterSeconds)];
  return { status, headers, lines: JSON_LINES, body: writeError(error, message, requestId) };
}

function responseTo({ status, response, challenge, stream }: Dispatched, keepAliveMs: number): RpcResponse {
  if (stream !== undefined) {
    return { status, headers: NO_HEADERS, lines: STREAM_LINES, body: eventStream(stream, keepAliveMs) };
  }
  const headers = challenge === undefined ? NO_HEADERS : ['WWW-Authenticate', challenge];
  return { status, headers, lines: JSON_LINES, body: response };
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

/** Answers requests one after the other, while their responses fit the common bound; the rest are not processed. */
async function answerBatch(
  requests: readonly JSONRPCRequest[],
  revision: Revision,
  context: RequestContext,
  { dispatch, recordError, maxAnswerBytes }: { dispatch: Dispatch; recordError: RecordError; maxAnswerBytes: number },
): Promise<Pieces> {
  const batch = new InnerContext(context, { caller: context.caller, batchReads: new Map() });
  const pieces: (Buffer | string)[] = [];
  let bytes = 0;
  let isFull = false;

  function beyond(request: JSONRPCRequest): Buffer {
    const detail = `The responses to a batch can have at most ${maxAnswerBytes} bytes together. Send this request again by itself.`;
    const error = recordError(explained('result_too_large', detail, { bound: 'mcp.maxAnswerBytes' }), batch);
    return writeError(error, request, context.record.requestId, revision);
  }

  for (const one of requests) {
    // Yields between two requests of a batch that need not be awaited.
    if (pieces.length > 0) await nextTurn();
    context.signal.throwIfAborted();
    const response = await asMember(context.record, loggedMethod(one), async () => {
      const answered = isFull ? [] : (await dispatch(one, revision, batch)).response;
      const length = answered.reduce((total, piece) => total + Buffer.byteLength(piece), 0);
      isFull ||= bytes > 0 && bytes + length > maxAnswerBytes;
      if (isFull) return [beyond(one)];
      bytes += length;
      return answered;
    });
    pieces.push(pieces.length === 0 ? '[' : ',', ...response);
  }
  return [...pieces, ']'];
}

/** The error of a batch is that of the last request; a rejected credential is never replaced, because limits count it. */
async function asMember<T>(record: RequestRecord, rpc: string, work: () => Promise<T>): Promise<T> {
  const { tool, resource, error } = record;
  record.tool = undefined;
  record.resource = undefined;
  record.error = undefined;
  let outcome = 'caller_gone';
  try {
    const result = await work();
    outcome = (record.error as RequestRecord['error'])?.code ?? 'ok';
    return result;
  } finally {
    record.members ??= [];
    record.members.push({ rpc, tool: record.tool, resource: record.resource, outcome });
    record.tool ??= tool;
    record.resource ??= resource;
    if (record.error === undefined || isOfCredential(error)) record.error = error;
  }
}
