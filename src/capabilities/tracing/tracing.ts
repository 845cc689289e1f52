import { z } from 'zod';
import { errorTypeOf, type RequestRecord } from '../../core/kernel/caller.ts';
import { defineCapability } from '../capability.ts';
import { traceOperations } from './operation-span.ts';
import { startTracer, type Tracer } from './tracer.ts';
import { traceReads } from './wrappers.ts';

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

    function endSpan(record: RequestRecord): void {
      const { span, requestId, method, route, status, outcome, error, resource, cache } = record;
      const failure = { error: errorTypeOf(record), code: error?.code };
      span?.end({ requestId, method, route, scheme, status, outcome, resource, cache, ...failure });
    }

    return {
      ...traceReads(now),
      wrapDispatch: traceOperations(begin),
      onRequest({ record, trace }, operation) {
        // Probes come every few seconds.
        if (!operation.isProbe) record.span = begin('request', trace, record);
      },
      // Of a stream, only how it was opened.
      onSettled({ record }) {
        if (record.openedMs !== undefined) endSpan(record);
      },
      listeners: [
        {
          requestEnded(record) {
            if (record.edge === 'http' && record.openedMs === undefined) endSpan(record);
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
