import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/server';
import { traceOperation } from '../../capabilities/tracing/operation-span.ts';
import type { Tracing } from '../../capabilities/tracing/tracing.ts';
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
  /** @default no tracing */
  readonly tracing?: Tracing | undefined;
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
}

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
  const { events, tracing } = options;
  const recordError = createRecordError(events);
  const challengeFor = createChallengeFor(options.challenge);
  const { server, methods, tools } = createMethods({ ...options, recordError, challengeFor });
  const writeResult = createWriteResult(server);

  return (request, revision, asked) => {
    const { id, method, params = {} } = request;
    const traced = tracing && traceOperation(tracing, request, asked);
    const context = traced?.context ?? asked;
    const begun = performance.now();

    function tell(error?: number | 'tool_error' | 'cancelled'): void {
      const { name } = params;
      const tool = method === 'tools/call' && tools.has(name) ? (name as string) : undefined;
      const rpc = loggedMethod(request);
      traced?.end({ rpc, tool, revision }, error);
      events.operationEnded?.({ rpc, tool, ms: performance.now() - begun, error });
    }

    function answered(): Dispatched | Promise<Dispatched> {
      const handle = methods[revision].get(method);
      if (handle === undefined) throw new GatewayError('not_found', { detail: 'There is no such method here.' });
      return andThen(handle(params, context, id), (result) => {
        const response = writeResult(result, revision, id);
        tell(isToolError(result) ? 'tool_error' : undefined);
        return { status: 200, response, notification: 'notification' in result ? result.notification : undefined };
      });
    }

    function failed(thrown: unknown): Dispatched {
      if (context.signal.aborted) {
        tell('cancelled');
        throw thrown;
      }
      const error = recordError(thrown, context);
      tell(rpcCodeOf(error, revision));
      const challenge = challengeFor(error, context);
      // Since 2026-07-28 an unknown method is also an HTTP status.
      const isTold = challenge !== undefined || (error.code === 'not_found' && revision === CURRENT);
      return {
        status: isTold ? error.status : 200,
        challenge,
        response: [writeError(error, request, context.record.requestId, revision)],
      };
    }

    return attempt(answered, failed);
  };
}

function isToolError(result: Result): boolean {
  return 'members' in result && result.members['isError'] === true;
}
