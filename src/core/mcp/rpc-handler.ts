import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { emitLimitReached } from '../kernel/join-events.ts';
import { nextTurn } from '../kernel/turns.ts';
import { asMember } from './batch-member.ts';
import { createDispatch, type Dispatched, type DispatchOptions } from './dispatch.ts';
import { type Envelope, type RpcHeaders, readEnvelope } from './envelope.ts';
import { loggedMethod, parseMessage } from './message.ts';
import { andThen, InnerContext, type RequestContext } from './request-context.ts';
import type { Revision } from './revisions.ts';
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
  /** In one piece, or several that are sent in order. */
  readonly body: Buffer | readonly Buffer[];
}

/**
 * Answers any body; without a promise if nothing must be awaited. Without a caller, it throws `credential_missing`,
 * except for public lists. When the caller disconnects, it throws or rejects with the signal's reason.
 */
export type RpcHandler = (request: RpcRequest) => RpcResponse | Promise<RpcResponse>;

export interface RpcHandlerOptions extends DispatchOptions {
  /** Objects, lists and members of one body. */
  readonly maxMessageValues: number;
  /** Messages of one batch. */
  readonly maxBatch: number;
  /** Bytes of all responses to one batch, except the first, which may be one read. */
  readonly maxAnswerBytes: number;
}

const JSON_HEADERS = ['Content-Type', 'application/json', 'Cache-Control', 'no-store'];
const STREAM_HEADERS = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store'];
const ACCEPTED: RpcResponse = { status: 202, headers: [], body: Buffer.alloc(0) };

const [OPENED, COMMA, CLOSED] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Methods that only describe what is offered. */
const PUBLIC: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'server/discover'],
  ...['resources/list', 'resources/templates/list', 'tools/list'],
]);

/** JSON-RPC over Streamable HTTP, stateless, in all supported revisions. */
export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const { maxMessageValues, maxBatch, maxAnswerBytes, events } = options;
  const dispatch = createDispatch(options);
  const recordError = createRecordError(events);

  function answer(
    { requests, revision, isBatch }: Envelope,
    context: RequestContext,
  ): RpcResponse | Promise<RpcResponse> {
    const [request] = requests;
    if (request === undefined) return ACCEPTED;
    if (!isBatch) return andThen(dispatch(request, revision, context), responseTo);
    return answerBatch(requests, revision, context);
  }

  /**
   * Answers the requests of a batch one after the other, while their responses fit the common bound; the rest are not
   * processed.
   */
  async function answerBatch(
    requests: readonly JSONRPCRequest[],
    revision: Revision,
    context: RequestContext,
  ): Promise<RpcResponse> {
    const batch = new InnerContext(context, { caller: context.caller, batchReads: new Map() });
    const pieces: Buffer[] = [];
    let bytes = 0;
    let isFull = false;
    for (const one of requests) {
      // Yields between two requests of a batch that need not be awaited.
      if (pieces.length > 0) await nextTurn();
      context.signal.throwIfAborted();
      const response = await asMember(context.record, loggedMethod(one), async () => {
        const answered = isFull ? [] : (await dispatch(one, revision, batch)).response;
        const length = bytesOf(answered);
        isFull ||= bytes > 0 && bytes + length > maxAnswerBytes;
        if (isFull) return [beyond(one, revision, batch)];
        bytes += length;
        return answered;
      });
      pieces.push(pieces.length === 0 ? OPENED : COMMA, ...response);
    }
    return { status: 200, headers: JSON_HEADERS, body: [...pieces, CLOSED] };
  }

  function beyond(request: JSONRPCRequest, revision: Revision, context: RequestContext): Buffer {
    const detail = `The responses to a batch may take ${maxAnswerBytes} bytes together. Send this request again, by itself.`;
    const error = recordError(new GatewayError('result_too_large', { detail, bound: 'mcp.maxAnswerBytes' }), context);
    return writeError(error, request, context.record.requestId, revision);
  }

  function refuse(error: unknown, message: unknown, { record }: RpcRequest): RpcResponse {
    if (!(error instanceof GatewayError)) throw error;
    record.error = error;
    emitLimitReached(events, error, record);
    return refusal(error, record.requestId, message);
  }

  return (request) => {
    const { headers, body, caller, record } = request;
    let message: unknown;
    let envelope: Envelope;
    try {
      message = parseMessage(body, maxMessageValues);
      record.rpc = loggedMethod(message);
      envelope = readEnvelope(message, headers, maxBatch);
    } catch (error) {
      return refuse(error, message, request);
    }
    if (caller === undefined && !envelope.requests.every(isPublic)) throw new GatewayError('credential_missing');
    const more = Array.isArray(message) ? message.length - 1 : 0;
    const counted = more === 0 ? undefined : request.countMore(more);
    if (!(counted instanceof Promise)) return answer(envelope, request);
    return counted.then(
      () => answer(envelope, request),
      (error) => refuse(error, message, request),
    );
  };
}

/** Returns the error response to a whole POST; `message` is its parsed part. */
export function refusal(error: GatewayError, requestId: string, message?: unknown): RpcResponse {
  const { status, retryAfterSeconds } = error;
  const headers =
    retryAfterSeconds === undefined ? JSON_HEADERS : [...JSON_HEADERS, 'Retry-After', String(retryAfterSeconds)];
  return { status, headers, body: writeError(error, message, requestId) };
}

function responseTo({ status, response, challenge, notification }: Dispatched): RpcResponse {
  const headers = challenge === undefined ? JSON_HEADERS : [...JSON_HEADERS, 'WWW-Authenticate', challenge];
  if (notification === undefined) return { status, headers, body: response };
  const events = [Buffer.from(JSON.stringify(notification satisfies JSONRPCNotification)), Buffer.concat(response)];
  const body = events.map((message) => Buffer.from(`event: message\ndata: ${message}\n\n`));
  return { status, headers: STREAM_HEADERS, body };
}

function isPublic({ method }: JSONRPCRequest): boolean {
  return PUBLIC.has(method);
}

function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((bytes, { length }) => bytes + length, 0);
}
