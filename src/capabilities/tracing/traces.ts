import type { Events } from '../../core/kernel/events.ts';
import type { Span, SpanAbout, Trace } from '../../core/kernel/trace.ts';

export interface TracingSettings {
  readonly enabled: boolean;
  /** Where the collector takes spans: OTLP over HTTP, in JSON. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here which is kept, from 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** How long the collector has to take one batch. */
  readonly timeoutMs: number;
  /** How long a span waits for others to be sent with. */
  readonly intervalMs: number;
  /** Spans that wait to be sent, and that are being sent. */
  readonly maxQueueSpans: number;
}

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

/** Traces that are sampled. Whether one is has been decided before. */
export interface Traces {
  /** Begins a span in the caller's trace, or in a new one. */
  begin(about: SpanAbout, sent: Trace | undefined, beginning?: Beginning): Span;
  /** Sends spans that wait, for so long at most, and drops the rest. */
  close(withinMs: number): Promise<void>;
}
