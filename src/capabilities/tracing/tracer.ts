import { randomUUID } from 'node:crypto';
import type { Events } from '../../core/kernel/events.ts';
import type { Span, SpanAbout, Trace } from '../../core/kernel/trace.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { createOtlpWriter } from './otlp.ts';
import { createTails, newTraceId, RecordedSpan, type RecordedTrace, type Tail } from './recorded-span.ts';
import { createSpanExporter } from './span-exporter.ts';
import type { TracingSettings } from './tracing-settings.ts';

interface Beginning {
  /** `performance.now()` when that was. @default now */
  readonly begun?: number | undefined;
  /** Where it is not below this one, but has to do with it. */
  readonly link?: Span | undefined;
}

export type Tracer = ReturnType<typeof createTracer>;

/** Begins spans, in a new trace or in one of a caller. One for each gateway of a process. */
export function createTracer(settings: TracingSettings, events: Events) {
  const service = { name: settings.serviceName, version: readVersion(), instanceId: randomUUID() };
  const exporter = createSpanExporter<RecordedSpan>(settings, createOtlpWriter(service), events);
  const openTail = createTails(settings.maxQueueSpans, exporter.add, events);

  const sampled: Tail<RecordedSpan> = { end: exporter.add, decide() {} };

  function newTrace(isSampled: boolean): RecordedTrace {
    return {
      traceId: newTraceId(),
      flags: isSampled ? '01' : '00',
      epochMs: Date.now() - performance.now(),
      tail: isSampled ? sampled : openTail(),
      startNext: () => newTrace(isSampled),
    };
  }

  return {
    /** A caller's trace is sampled where its flags say so; `undefined` otherwise. A new one is exported if it is, or fails. */
    begin(about: SpanAbout, sent: Trace | undefined, { begun, link }: Beginning = {}): Span | undefined {
      if (sent?.isSampled === false) return undefined;
      const links = link instanceof RecordedSpan ? [link] : [];
      if (sent === undefined) {
        return new RecordedSpan(newTrace(Math.random() < settings.sampleRatio), { about, begun, links });
      }
      const { traceId, parentId, headers } = sent;
      const own = { traceId, flags: headers.traceparent.slice(-2), tracestate: headers.tracestate };
      return new RecordedSpan({ ...newTrace(true), ...own }, { about, begun, links, parent: parentId });
    },
    /** Sends spans that wait, for so many milliseconds at most, and drops the rest. */
    close: exporter.close,
  };
}
