import type { z } from 'zod';
import type { Events } from '../../core/kernel/events.ts';
import type { Limits } from '../../core/kernel/limits.ts';
import type { Span, SpanAbout, Trace } from '../../core/kernel/trace.ts';
import type { tracingSettings } from './tracing-settings.ts';

/** Settings of tracing, and its bounds. */
export type TracingSettings = z.output<typeof tracingSettings> & Limits['tracing'];

export interface TracingOptions {
  /** Of this package. */
  readonly version: string;
  readonly events: Events;
}

/** Starts a span without a parent in this process. */
export interface Beginning {
  /** `performance.now()` when that was. @default now */
  readonly begun?: number | undefined;
  /** Where it is not below this one, but has to do with it. */
  readonly link?: Span | undefined;
}

/** Traces that are recorded. Whether one is has been decided before. */
export interface Traces {
  /** Begins a span in the caller's trace, or in a new one, which is exported only if it fails where it is not sampled. */
  begin(about: SpanAbout, sent: Trace | undefined, beginning?: Beginning, isSampled?: boolean): Span;
  /** Sends spans that wait, for so long at most, and drops the rest. */
  close(withinMs: number): Promise<void>;
}
