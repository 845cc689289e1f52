import { codeOf } from './causes.ts';
import type { Span, SpanFacts } from './span.ts';

/** Does some work, and ends its span with it, whichever way that goes. `signal` is that of whoever waits for it. */
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
