import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span as SdkSpan, SpanContext } from '@opentelemetry/api';
import type { Events } from '../../core/kernel/events.ts';
import type { Limits } from '../../core/kernel/limits.ts';
import type { Span, SpanAbout, SpanFacts, Trace } from '../../core/kernel/trace.ts';
import { readVersion } from '../../core/kernel/version.ts';
import { attributesOf, isError, nameOf, SCHEMA_URL, SPAN_KINDS } from './conventions.ts';
import { countSpans } from './count-spans.ts';

export interface TracerOptions extends Pick<Limits['tracing'], 'intervalMs' | 'maxQueueSpans'> {
  readonly sampleRatio: number;
  readonly events: Events;
}

interface Beginning {
  /** `performance.now()` when the span began. @default now */
  readonly begun?: number | undefined;
  /** A span of another trace that led to this one. */
  readonly link?: Span | undefined;
}

interface OwnTrace {
  /** What makes `performance.now()` milliseconds since the epoch: one for a trace, so that its spans are in order. */
  readonly epochMs: number;
  /** The caller's trace, whose `tracestate` is forwarded and not exported. */
  readonly sent: Trace | undefined;
}

export type Tracer = Awaited<ReturnType<typeof startTracer>>;

const MAX_FLUSH_MS = 3000;

/**
 * Loads OpenTelemetry's SDK, and begins spans with it. It reads `OTEL_EXPORTER_OTLP_*`, `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES`. Spans are passed explicitly: no context manager is registered.
 */
export async function startTracer({ sampleRatio, intervalMs, maxQueueSpans, events }: TracerOptions) {
  const [{ ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace }, sdk, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const { resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
  const service = { 'service.name': 'portico', 'service.version': readVersion(), 'service.instance.id': randomUUID() };
  const provider = new sdk.TracerProvider({
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    resource: resources
      .resourceFromAttributes(service)
      .merge(resources.detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [
      countSpans({
        exporter: new OTLPTraceExporter(),
        process: (exporter) =>
          new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: intervalMs, maxQueueSize: maxQueueSpans }),
        maxQueueSpans,
        events,
      }),
    ],
  });
  const tracer = provider.getTracer('portico', readVersion(), { schemaUrl: SCHEMA_URL });

  function wrap(about: SpanAbout, span: SdkSpan, own: OwnTrace, facts?: SpanFacts): Span {
    const { epochMs, sent } = own;
    const { traceId, spanId } = span.spanContext();
    const traceparent = `00-${traceId}-${spanId}-${sent?.headers.traceparent.slice(-2) ?? '01'}`;
    const context = trace.setSpan(ROOT_CONTEXT, span);
    let isOver = false;
    return {
      traceId,
      headers: { ...sent?.headers, traceparent },
      begin(below, more) {
        const options = { kind: SpanKind[SPAN_KINDS[below]], startTime: timeOf(epochMs) };
        return wrap(below, tracer.startSpan(below, options, context), own, more);
      },
      link: (other) => void span.addLink({ context: contextOf(other) }),
      end(more) {
        if (isOver) return;
        isOver = true;
        const all = { ...facts, ...more };
        span.updateName(nameOf(about, all));
        for (const [key, value] of Object.entries(attributesOf(all))) {
          if (value !== undefined) span.setAttribute(key, value);
        }
        if (isError(all)) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end(timeOf(epochMs));
      },
    };
  }

  return {
    /** Follows the sampled flag of a caller's trace. `undefined` where the trace is not sampled. */
    begin(about: SpanAbout, sent: Trace | undefined, { begun, link }: Beginning = {}): Span | undefined {
      const context = sent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remoteContext(sent));
      const links = link === undefined ? [] : [{ context: contextOf(link) }];
      const epochMs = Date.now() - performance.now();
      const options = { kind: SpanKind[SPAN_KINDS[about]], startTime: timeOf(epochMs, begun), links };
      const span = tracer.startSpan(about, options, context);
      return span.isRecording() ? wrap(about, span, { epochMs, sent }) : undefined;
    },
    /** Sends spans that wait, for so many milliseconds at most. */
    async stop(withinMs: number): Promise<void> {
      const flushed = provider.shutdown().catch(() => {});
      await Promise.race([flushed, sleep(Math.min(withinMs, MAX_FLUSH_MS), undefined, { ref: false })]);
    },
  };

  function remoteContext({ traceId, parentId: spanId, isSampled }: Trace): SpanContext {
    return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
  }

  function contextOf({ traceId, headers }: Span): SpanContext {
    return { traceId, spanId: headers.traceparent.slice(36, 52), traceFlags: TraceFlags.SAMPLED };
  }
}

/** Seconds since the epoch and nanoseconds. */
function timeOf(epochMs: number, ms = performance.now()): [number, number] {
  const time = epochMs + ms;
  return [Math.floor(time / 1000), Math.round((time % 1000) * 1e6)];
}
