import type { Span, SpanAbout, Trace } from '../../core/kernel/trace.ts';
import type { Beginning, Traces, TracingOptions, TracingSettings } from './traces.ts';

/** Begins spans of traces, in a new trace or in one of a caller. */
export interface Tracer {
  /**
   * Begins the span of a caller's request, in the caller's trace or in a new one. The trace of a caller is sampled where its flags
   * say so; `undefined` otherwise: then nothing is created for it. A new one that is not sampled is exported if the request fails.
   */
  begin(about: SpanAbout, trace: Trace | undefined, beginning?: Beginning): Span | undefined;
  /** Loads OpenTelemetry. Until then no trace is sampled. */
  open(): Promise<void>;
  /** Sends spans that wait, for so long at most, and drops the rest. */
  close(withinMs: number): Promise<void>;
}

/** Belongs to one gateway: nothing of OpenTelemetry is registered for the whole process. */
export function createTracer(settings: TracingSettings, options: TracingOptions): Tracer {
  let traces: Traces | undefined;
  return {
    begin(about, trace, beginning) {
      if (trace?.isSampled === false) return undefined;
      return traces?.begin(about, trace, beginning, trace !== undefined || Math.random() < settings.sampleRatio);
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
