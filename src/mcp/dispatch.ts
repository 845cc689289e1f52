import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../observability/events.ts';
import { loggedMethod } from './message.ts';
import { createMethods, type MethodsOptions } from './methods.ts';
import { andThen, attempt, type RequestContext } from './request-context.ts';
import { createWriteResult, type Result } from './results.ts';
import { CURRENT, type Revision } from './revisions.ts';
import { createRecordError, rpcCodeOf, writeError } from './rpc-errors.ts';

export interface DispatchOptions extends Omit<MethodsOptions, 'recordError'> {
  readonly events: Events;
}

/** What a request came to. */
export interface Dispatched {
  /** Over HTTP, where it is not part of a batch. */
  readonly status: number;
  /** JSON, in pieces that are sent one after the other. */
  readonly response: readonly Buffer[];
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
  const { events } = options;
  const recordError = createRecordError(events);
  const { server, methods, tools } = createMethods({ ...options, recordError });
  const writeResult = createWriteResult(server);

  return (request, revision, context) => {
    const { id, method, params = {} } = request;
    const begun = performance.now();

    function tell(error?: number | 'tool_error' | 'cancelled'): void {
      const { name } = params;
      const tool = method === 'tools/call' && tools.has(name) ? (name as string) : undefined;
      events.operationEnded?.({ rpc: loggedMethod(request), tool, ms: performance.now() - begun, error });
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
      return {
        // Only what is no method here is told as a status, and only since 2026-07-28.
        status: error.code === 'not_found' && revision === CURRENT ? error.status : 200,
        response: [writeError(error, request, context.record.requestId, revision)],
      };
    }

    return attempt(answered, failed);
  };
}

function isToolError(result: Result): boolean {
  return 'members' in result && result.members['isError'] === true;
}
