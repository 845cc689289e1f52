import type { JSONRPCNotification } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { createDispatch, type Dispatched, type DispatchOptions } from './dispatch.ts';
import { type Envelope, type RpcHeaders, readEnvelope } from './envelope.ts';
import { loggedMethod, parseMessage } from './message.ts';
import { andThen, type RequestContext } from './request-context.ts';
import { writeError } from './rpc-errors.ts';

/** A `POST` whose credential and body have been read. */
export interface RpcRequest extends RequestContext {
  readonly headers: RpcHeaders;
  readonly body: Buffer;
}

/** A response over HTTP. */
export interface RpcResponse {
  readonly status: number;
  /** Names and values by turns. */
  readonly headers: readonly string[];
  /** In one piece, or in several that are sent one after the other. */
  readonly body: Buffer | readonly Buffer[];
}

/**
 * Answers whatever the body is, at once where everything is at hand. Throws or rejects with a `GatewayError` for what HTTP
 * itself has to tell: the platform rejects the caller's credential, or denies it the resource. Once the caller has hung
 * up, it rejects with the signal's reason.
 */
export type RpcHandler = (request: RpcRequest) => RpcResponse | Promise<RpcResponse>;

const JSON_HEADERS = ['Content-Type', 'application/json', 'Cache-Control', 'no-store'];
const STREAM_HEADERS = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store'];
const ACCEPTED: RpcResponse = { status: 202, headers: [], body: Buffer.alloc(0) };

const [OPENED, COMMA, CLOSED] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** JSON-RPC over Streamable HTTP, stateless, in all revisions of the protocol that there are. */
export function createRpcHandler(options: DispatchOptions): RpcHandler {
  const dispatch = createDispatch(options);

  function answer(
    { requests, revision, isBatch }: Envelope,
    context: RequestContext,
  ): RpcResponse | Promise<RpcResponse> {
    const [request] = requests;
    if (request === undefined) return ACCEPTED;
    if (!isBatch) return andThen(dispatch(request, revision, context), responseTo);
    return Promise.allSettled(requests.map(async (one) => dispatch(one, revision, context))).then(batchResponse);
  }

  return (request) => {
    const { headers, body, caller, record } = request;
    let message: unknown;
    let envelope: Envelope;
    try {
      message = parseMessage(body);
      record.rpc = loggedMethod(message);
      envelope = readEnvelope(message, headers);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      record.error = error;
      return { status: error.status, headers: JSON_HEADERS, body: writeError(error, message, caller.requestId) };
    }
    return answer(envelope, request);
  };
}

function responseTo({ status, response, notification }: Dispatched): RpcResponse {
  if (notification === undefined) return { status, headers: JSON_HEADERS, body: response };
  const events = [Buffer.from(JSON.stringify(notification satisfies JSONRPCNotification)), Buffer.concat(response)];
  const body = events.map((message) => Buffer.from(`event: message\ndata: ${message}\n\n`));
  return { status, headers: STREAM_HEADERS, body };
}

/** The credential is that of all requests: where one of them is told by HTTP that it will not do, all are. */
function batchResponse(settled: readonly PromiseSettledResult<Dispatched>[]): RpcResponse {
  const pieces: Buffer[] = [];
  for (const one of settled) {
    if (one.status === 'rejected') throw one.reason;
    pieces.push(pieces.length === 0 ? OPENED : COMMA, ...one.value.response);
  }
  return { status: 200, headers: JSON_HEADERS, body: [...pieces, CLOSED] };
}
