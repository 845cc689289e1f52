import { traceOfCaller } from '../../core/credentials/redact.ts';
import { type Credential, withSpan } from '../../core/kernel/caller.ts';
import type { Span, Trace } from '../../core/kernel/trace.ts';
import type { Dispatch, Dispatched } from '../../core/mcp/dispatch.ts';
import { loggedMethod } from '../../core/mcp/message.ts';
import { type RequestContext, withCaller } from '../../core/mcp/request-context.ts';
import type { Tracer } from './tracer.ts';

/**
 * Creates a span for each request. It belongs to the trace that `params._meta` names (SEP-414), and then has a link to the HTTP
 * request that brought it; else to that of the HTTP request; over stdio, a trace may begin with it.
 */
export function traceOperations(begin: Tracer['begin']): (dispatch: Dispatch) => Dispatch {
  return (dispatch) => async (request, revision, context) => {
    const { method, params } = request;
    const { record } = context;
    const { edge, requestId, span: outer } = record;
    const own = traceIn(params, context);
    const isBelow = own === undefined && edge === 'http';
    const span = isBelow ? outer?.begin('MCP', {}, 'SERVER') : begin('MCP', 'SERVER', own);
    if (!isBelow && outer !== undefined) span?.link(outer);
    if (edge === 'stdio') {
      record.span = span;
      record.traceId = span?.traceId;
    }

    function end({ rpc, tool, error }: Dispatched['ended']): void {
      const name = rpc === 'other' ? '_OTHER' : rpc;
      // It was found, so that it is one of those that are offered.
      const isRead = method === 'resources/read' && record.resource !== undefined;
      const attributes = {
        'mcp.method.name': name,
        'mcp.resource.uri': isRead ? String(params?.['uri']) : undefined,
        'gen_ai.tool.name': tool,
        'rpc.response.status_code': typeof error === 'number' ? `${error}` : undefined,
        'error.type': error?.toString(),
        'portico.request.id': requestId,
        'portico.error.code': record.error?.code,
        'portico.resource': record.resource,
      };
      span?.end(attributes, tool === undefined ? name : `${name} ${tool}`);
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
  const credentials: Credential[] =
    caller === undefined ? [] : [caller.credential, ...[...(caller.headerCredentials?.values() ?? [])].flat()];
  return traceOfCaller({ traceparent, tracestate: state }, credentials);
}

/** The same context, for whose caller the span has begun; under `trace`, where the message named one. */
function within(context: RequestContext, span: Span | undefined, trace?: Trace): RequestContext {
  const { caller } = context;
  if (caller === undefined || (span === undefined && trace === undefined)) return context;
  return withCaller(context, withSpan(trace ? { ...caller, trace: trace.headers, span: undefined } : caller, span));
}
