import { codeOf } from './causes.ts';
import type { Span, SpanFacts } from './span.ts';

/** Runs work, and ends its span with it in any case. `signal` is the waiting caller's. */
export async function during<T>(
  span: Span | undefined,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  factsOf?: (result: T) => SpanFacts,
): Promise<T> {
  if (span === undefined) return work();
  try {
    const result = await work();
    span.end(factsOf?.(result));
    return result;
  } catch (error) {
    span.end({ error: codeOf(error, signal) });
    throw error;
  }
}
