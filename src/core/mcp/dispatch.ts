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
  /** @default nothing is traced */
  readonly tracing?: Tracing | undefined;
  /** What HTTP challenges a client with that can obtain another token. @default no client can */
  readonly challenge?: Challenge | undefined;
}

/** What a request came to. */
export interface Dispatched {
  /** Over HTTP, where it is not part of a batch. */
  readonly status: number;
  /** JSON, in pieces that are sent one after the other. */
  readonly response: readonly Buffer[];
  /** Over HTTP, what the client is challenged with. */
  readonly challenge?: string | undefined;
  /** Sent ahead of the response. */
  readonly notification?: JSONRPCNotification | undefined;
}

/**
 * Answers one request, for HTTP and stdio alike: at once where everything is at hand. Throws or rejects with what a read
 * throws whose signal has aborted.
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
      // What is no method here is told as a status, too, since 2026-07-28.
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
