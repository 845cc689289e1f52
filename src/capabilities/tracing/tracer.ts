import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span as SdkSpan, SpanContext } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { nameError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Limits } from '../../core/kernel/limits.ts';
import type { Span, SpanKind, Trace } from '../../core/kernel/trace.ts';
import { readVersion } from '../../core/kernel/version.ts';

export interface TracerOptions extends Pick<Limits['tracing'], 'intervalMs' | 'maxQueueSpans'> {
  readonly sampleRatio: number;
  readonly events: Events;
}

export type Tracer = Awaited<ReturnType<typeof startTracer>>;

/** The semantic conventions of the attributes. Those of MCP are in development. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.40.0';

const MAX_FLUSH_MS = 3000;

/** Values of `error.type` of work without a waiting caller, which has not failed. */
const CANCELLED: readonly unknown[] = [undefined, 'cancelled', 'caller_gone'];

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
  const exporter = withFailureEvents(new OTLPTraceExporter(), events);
  const provider = new sdk.TracerProvider({
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    resource: resources
      .resourceFromAttributes(service)
      .merge(resources.detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: intervalMs, maxQueueSize: maxQueueSpans }),
    ],
  });
  const tracer = provider.getTracer('portico', readVersion(), { schemaUrl: SCHEMA_URL });

  /** `sent`: the caller's trace, whose `tracestate` is forwarded and not exported. */
  function wrap(span: SdkSpan, sent: Trace | undefined): Span {
    const { traceId, spanId } = span.spanContext();
    const traceparent = `00-${traceId}-${spanId}-${sent?.headers.traceparent.slice(-2) ?? '01'}`;
    const context = trace.setSpan(ROOT_CONTEXT, span);
    return {
      traceId,
      headers: { ...sent?.headers, traceparent },
      begin: (name, attributes = {}, kind = 'INTERNAL') =>
        wrap(tracer.startSpan(name, { kind: SpanKind[kind], attributes }, context), sent),
      link: (other) => void span.addLink({ context: contextOf(other) }),
      end(attributes = {}, name) {
        if (name !== undefined) span.updateName(name);
        for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span.setAttribute(key, value);
        if (!CANCELLED.includes(attributes['error.type'])) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  return {
    /** Follows the sampled flag of a caller's trace. `undefined` where the trace is not sampled. */
    begin(name: string, kind: SpanKind, sent: Trace | undefined): Span | undefined {
      const context = sent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remoteContext(sent));
      const span = tracer.startSpan(name, { kind: SpanKind[kind] }, context);
      return span.isRecording() ? wrap(span, sent) : undefined;
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

/** Emits failed exports, which the SDK reports to its own logger only. */
function withFailureEvents(exporter: SpanExporter, events: Events): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) events.spansDropped?.({ spans: spans.length, cause: causeOf(result.error) });
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/** The exporter's error has the status of the response as its code. */
function causeOf(error: (Error & { readonly code?: unknown }) | undefined): string | undefined {
  return typeof error?.code === 'number' ? `status ${error.code}` : error && nameError(error);
}
