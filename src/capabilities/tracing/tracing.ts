import { z } from 'zod';
import { errorTypeOf, type RequestRecord } from '../../core/kernel/caller.ts';
import { defineCapability } from '../capability.ts';
import { traceOperations } from './operation-span.ts';
import { traceReads } from './read-spans.ts';
import { startTracer, type Tracer } from './tracer.ts';

const tracingSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Whether traces are sent to a collector. OTEL_EXPORTER_OTLP_ENDPOINT and other variables of OpenTelemetry name it.',
    ),
  sampleRatio: z
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe(
      'Share of the traces that begin here which is kept. A trace of a caller is kept where the caller keeps it.',
    ),
});

/** Traces for a collector of OpenTelemetry (docs/operations.md). */
export const tracing = defineCapability({
  settings: {
    key: 'tracing',
    schema: tracingSettings.prefault({}).describe('Traces, for a collector of OpenTelemetry.'),
    needsRestart: true,
  },
  purposes: ['serve', 'stdio'],
  open({ enabled, sampleRatio }, { config, limits, events, now }) {
    if (!enabled) return undefined;
    let tracer: Tracer | undefined;
    const begin: Tracer['begin'] = (...span) => tracer?.begin(...span);
    const scheme = config.http.tls === undefined ? 'http' : 'https';

    return {
      ...traceReads(now),
      wrapDispatch: traceOperations(begin),
      onRequest({ record, trace }, operation) {
        // Probes come every few seconds.
        if (!operation.isProbe) record.span = begin('HTTP', 'SERVER', trace);
      },
      // Of a stream, only how it was opened.
      onSettled({ record }) {
        if (record.headMs !== undefined) endRequestSpan(record, scheme);
      },
      listeners: [
        {
          requestEnded(record) {
            if (record.edge === 'http' && record.headMs === undefined) endRequestSpan(record, scheme);
          },
        },
      ],
      async start() {
        tracer = await startTracer({ ...limits.tracing, sampleRatio, events });
      },
      stop: async (withinMs) => tracer?.stop(withinMs),
    };
  },
});

/** The name is low in cardinality: a method that Node knows, and the route, never the path itself. */
function endRequestSpan(record: RequestRecord, scheme: string): void {
  const { span, requestId, method, status, outcome, error, resource, cache } = record;
  const route = record.route === 'unmatched' ? undefined : record.route;
  const attributes = {
    'http.request.method': method ?? '_OTHER',
    'http.route': route,
    'url.path': route,
    'url.scheme': scheme,
    'http.response.status_code': status,
    'error.type': errorTypeOf(record),
    'portico.request.id': requestId,
    'portico.outcome': outcome,
    'portico.error.code': error?.code,
    'portico.resource': resource,
    'portico.cache': cache,
  };
  span?.end(attributes, [method ?? 'HTTP', route].filter(Boolean).join(' '));
}
