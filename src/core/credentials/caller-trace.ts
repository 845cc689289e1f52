import type { Credential } from '../kernel/caller.ts';
import { continueTrace, type Trace } from '../kernel/trace.ts';
import { mentionsCredential } from './redact.ts';

/**
 * The trace that a caller's request belongs to, as `continueTrace` has it, without what repeats one of these credentials. What
 * is checked is short: a value that is no trace is left alone. `baggage` is never read.
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
