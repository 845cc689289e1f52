import { traceOfCaller } from '../../core/credentials/redact.ts';
import { type Caller, type Credential, under } from '../../core/kernel/caller.ts';
import type { Span, Trace } from '../../core/kernel/trace.ts';
import type { Dispatch, Dispatched } from '../../core/mcp/dispatch.ts';
import { loggedMethod } from '../../core/mcp/message.ts';
import { type RequestContext, withCaller } from '../../core/mcp/request-context.ts';
import type { Revision } from '../../core/mcp/revisions.ts';
import type { Tracer } from './tracer.ts';

/** The revision with envelopes. Not imported: its file loads the MCP SDK, also while tracing is off. */
const CURRENT = '2026-07-28' satisfies Revision;

/**
 * Creates a span for each request. It belongs to the trace that `params._meta` names (SEP-414), and then has a link to the HTTP
 * request that brought it; else to that of the HTTP request; over stdio, a trace may begin with it.
 */
export function traceOperations(begin: Tracer['begin']): (dispatch: Dispatch) => Dispatch {
  return (dispatch) => async (request, revision, context) => {
    const { method, params } = request;
    const { record } = context;
    const { edge } = record;
    const own = traceIn(params, context);
    const span = own === undefined ? beginHere() : begin('operation', own, { link: record.span });
    if (edge === 'stdio') {
      record.span = span;
      record.traceId = span?.traceId;
    }

    function beginHere(): Span | undefined {
      return edge === 'stdio' ? begin('operation', undefined) : record.span?.begin('operation');
    }

    function end({ rpc, tool, error }: Dispatched['ended']): void {
      // It was found, so that it is one of those that are offered.
      const isRead = method === 'resources/read' && record.resource !== undefined;
      span?.end({
        ...{ requestId: record.requestId, rpc, tool, edge, resource: record.resource },
        // The client chooses among the others.
        revision: revision === CURRENT ? revision : undefined,
        uri: isRead ? String(params?.['uri']) : undefined,
        error: error?.toString(),
        rpcCode: typeof error === 'number' ? error : undefined,
        code: record.error?.code,
      });
    }

    try {
      const dispatched = await dispatch(request, revision, within(context, span, own));
      end(dispatched.ended);
      return dispatched;
    } catch (error) {
      end({ rpc: loggedMethod(request), tool: undefined, error: 'cancelled' });
      throw error;
    }
  };
}

/** The trace that a message names. Without a caller, what credentials came is not known, and `tracestate` is left out. */
function traceIn(params: Parameters<Dispatch>[0]['params'], { caller }: RequestContext): Trace | undefined {
  const { traceparent, tracestate } = Object(params?._meta);
  if (typeof traceparent !== 'string') return undefined;
  const state = typeof tracestate === 'string' && caller !== undefined ? tracestate : undefined;
  return traceOfCaller({ traceparent, tracestate: state }, caller === undefined ? [] : credentialsOf(caller));
}

function credentialsOf({ credential, others }: Caller): readonly Credential[] {
  return others === undefined ? [credential] : [credential, ...[...others.values()].flat()];
}

/** The same context, for whose caller the span has begun; under `trace`, where the message named one. */
function within(context: RequestContext, span: Span | undefined, trace?: Trace): RequestContext {
  const { caller } = context;
  if (span === undefined && trace === undefined) return context;
  const named = trace === undefined ? caller : caller && { ...caller, trace: trace.headers, span: undefined };
  return withCaller(context, named && under(named, span));
}
