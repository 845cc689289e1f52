import type { Credential } from '../kernel/caller.ts';
import { continueTrace, type Trace } from '../kernel/trace.ts';
import { mentionsCredential } from './redact.ts';

/**
 * Returns the trace that a caller's request belongs to, without parts that repeat one of these credentials. `baggage` is never
 * read.
 */
export function traceOfCaller(
  { traceparent, tracestate }: { readonly traceparent: string | undefined; readonly tracestate: string | undefined },
  credentials: readonly Credential[],
): Trace | undefined {
  const trace = continueTrace(traceparent, tracestate);
  if (trace === undefined || mentionsCredential(traceparent ?? '', credentials)) return undefined;
  const { traceparent: own, tracestate: state } = trace.headers;
  if (state === undefined || !mentionsCredential(state, credentials)) return trace;
  return { ...trace, headers: { traceparent: own } };
}
