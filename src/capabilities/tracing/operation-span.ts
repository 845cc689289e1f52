import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { traceOfCaller } from '../../core/credentials/caller-trace.ts';
import { type Caller, type Credential, under } from '../../core/kernel/caller.ts';
import type { Span } from '../../core/kernel/span.ts';
import type { Trace } from '../../core/kernel/trace.ts';
import { InnerContext, type RequestContext } from '../../core/mcp/request-context.ts';
import { CURRENT, type Revision } from '../../core/mcp/revisions.ts';
import type { Tracing } from './tracing.ts';

/** A request of JSON-RPC that is traced, where its trace is kept. */
export interface Traced {
  /** As the request is worked on: what is done for it belongs to its trace. */
  readonly context: RequestContext;
  /** Ends its span, with what it was and what it came to, as `operationEnded` has it. */
  end(
    facts: { readonly rpc: string; readonly tool: string | undefined; readonly revision: Revision },
    error: number | string | undefined,
  ): void;
}

/**
 * Begins the span of a request. It belongs to the trace that `params._meta` names (SEP-414), and then has a link to the HTTP
 * request that brought it; else to that of the HTTP request; over stdio, a trace may begin with it.
 */
export function traceOperation(tracing: Tracing, { method, params }: JSONRPCRequest, context: RequestContext): Traced {
  const { record } = context;
  const { edge } = record;
  const own = traceIn(params, context);
  const span = own === undefined ? begin() : tracing.begin('operation', own, { link: record.span });
  if (edge === 'stdio') {
    record.span = span;
    record.traceId = span?.traceId;
  }

  function begin(): Span | undefined {
    return edge === 'stdio' ? tracing.begin('operation', undefined) : record.span?.begin('operation');
  }

  return {
    context: within(context, span, own),
    end({ revision, ...facts }, error) {
      // It was found, so that it is one of those that are offered.
      const isRead = method === 'resources/read' && record.resource !== undefined;
      span?.end({
        ...{ ...facts, edge, resource: record.resource },
        // Of the others, only the client knows which it is.
        revision: revision === CURRENT ? revision : undefined,
        uri: isRead ? String(params?.['uri']) : undefined,
        error: error?.toString(),
        rpcCode: typeof error === 'number' ? error : undefined,
        code: record.error?.code,
      });
    },
  };
}

/** The trace that a message names. Without a caller, what credentials came is not known, and `tracestate` is left out. */
function traceIn(params: JSONRPCRequest['params'], { caller }: RequestContext): Trace | undefined {
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
  const { caller, batchReads } = context;
  if (span === undefined && trace === undefined) return context;
  const named = trace === undefined ? caller : caller && { ...caller, trace: trace.headers, span: undefined };
  return new InnerContext(context, { caller: named && under(named, span), batchReads });
}
