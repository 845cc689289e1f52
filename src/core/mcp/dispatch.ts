import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { loggedMethod } from './message.ts';
import { createMethods, type MethodsOptions } from './methods.ts';
import { andThen, attempt, type RequestContext } from './request-context.ts';
import { createWriteResult, type Result } from './results.ts';
import { CURRENT, type Revision } from './revisions.ts';
import { type Challenge, createChallengeFor, createRecordError, rpcCodeOf, writeError } from './rpc-errors.ts';

export interface DispatchOptions extends Omit<MethodsOptions, 'recordError' | 'challengeFor'> {
  readonly events: Events;
  /** Wraps the dispatch of each request. @default nothing is wrapped */
  readonly wrapDispatch?: (dispatch: Dispatch) => Dispatch;
  /** The HTTP challenge for clients that can obtain another token. @default none */
  readonly challenge?: Challenge | undefined;
}

/** The response to a request. */
export interface Dispatched {
  /** Over HTTP, unless part of a batch. */
  readonly status: number;
  /** JSON in pieces, sent in order. */
  readonly response: readonly Buffer[];
  /** Over HTTP, the client's challenge. */
  readonly challenge?: string | undefined;
  /** Bytes before the response. */
  readonly notification?: JSONRPCNotification | undefined;
  /** For logs and traces, as the event `operationEnded` has it. */
  readonly ended: {
    readonly rpc: string;
    readonly tool: string | undefined;
    readonly error: OperationError | undefined;
  };
}

/** Code of the JSON-RPC error, `tool_error` for a result with `isError`, or `cancelled` where the client has left. */
type OperationError = number | 'tool_error' | 'cancelled';

/**
 * Answers one request, for HTTP and stdio; without a promise if nothing must be awaited. Throws or rejects like an
 * aborted read.
 */
export type Dispatch = (
  request: JSONRPCRequest,
  revision: Revision,
  context: RequestContext,
) => Dispatched | Promise<Dispatched>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { events, wrapDispatch = (inner) => inner } = options;
  const recordError = createRecordError(events);
  const challengeFor = createChallengeFor(options.challenge);
  const { server, methods, tools } = createMethods({ ...options, recordError, challengeFor });
  const writeResult = createWriteResult(server);

  return wrapDispatch((request, revision, context) => {
    const { id, method, params = {} } = request;
    const begun = performance.now();

    function end(error?: OperationError): Dispatched['ended'] {
      const { name } = params;
      const tool = method === 'tools/call' && tools.has(name) ? (name as string) : undefined;
      const rpc = loggedMethod(request);
      events.operationEnded?.({ rpc, tool, ms: performance.now() - begun, error });
      return { rpc, tool, error };
    }

    function answered(): Dispatched | Promise<Dispatched> {
      const handle = methods[revision].get(method);
      if (handle === undefined) throw new GatewayError('not_found', { detail: 'There is no such method here.' });
      return andThen(handle(params, context, id), (result) => {
        const response = writeResult(result, revision, id);
        const ended = end(isToolError(result) ? 'tool_error' : undefined);
        return {
          status: 200,
          response,
          ended,
          notification: 'notification' in result ? result.notification : undefined,
        };
      });
    }

    function failed(thrown: unknown): Dispatched {
      if (context.signal.aborted) {
        end('cancelled');
        throw thrown;
      }
      const error = recordError(thrown, context);
      const ended = end(rpcCodeOf(error, revision));
      const challenge = challengeFor(error, context);
      // Since 2026-07-28 an unknown method is also an HTTP status.
      const isHttpError = challenge !== undefined || (error.code === 'not_found' && revision === CURRENT);
      return {
        status: isHttpError ? error.status : 200,
        challenge,
        ended,
        response: [writeError(error, request, context.record.requestId, revision)],
      };
    }

    return attempt(answered, failed);
  });
}

function isToolError(result: Result): boolean {
  return 'members' in result && result.members['isError'] === true;
}
