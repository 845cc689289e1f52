import type { Span, SpanAbout } from '../../core/kernel/span.ts';
import type { Trace } from '../../core/kernel/trace.ts';
import { createSampler } from './sampling.ts';
import type { Beginning, Traces, TracingOptions, TracingSettings } from './traces.ts';

/** Where traces begin, or go on that a caller has begun. */
export interface Tracer {
  /**
   * Begins the span of what a caller asked, in the caller's trace or in a new one; `undefined` where that is not kept: then
   * nothing is made for it. A caller's own trace is kept where the caller says so.
   */
  begin(about: SpanAbout, trace: Trace | undefined, beginning?: Beginning): Span | undefined;
  /** Loads what it takes to keep traces. Until then none is. */
  open(): Promise<void>;
  /** Sends what waits, for so long at most, and drops the rest. */
  close(withinMs: number): Promise<void>;
}

/** Belongs to one gateway: nothing of OpenTelemetry's is registered for the whole process. */
export function createTracer(settings: TracingSettings, options: TracingOptions): Tracer {
  const draw = createSampler(settings.sampleRatio);
  let traces: Traces | undefined;
  return {
    begin(about, trace, beginning = {}) {
      if (trace !== undefined) return trace.isSampled ? traces?.goOn(about, trace, beginning) : undefined;
      const traceId = draw();
      return traceId === undefined ? undefined : traces?.begin(about, traceId, beginning);
    },
    async open() {
      // It takes a while to load, and a good deal of memory.
      const { openTraces } = await import('./open-traces.ts');
      traces = openTraces(settings, options);
    },
    async close(withinMs) {
      await traces?.close(withinMs);
    },
  };
}
