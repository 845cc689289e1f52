import type { HttpRequest } from '../../core/http/http-request.ts';
import { errorTypeOf, type RequestRecord } from '../../core/kernel/caller.ts';
import { defineCapability } from '../capability.ts';
import { traceOperations } from './operation-span.ts';
import { createTracer } from './tracer.ts';
import { tracingSettings } from './tracing-settings.ts';
import { traceReads } from './wrappers.ts';

/** Traces for a collector of OpenTelemetry (docs/tracing.md). */
export const tracing = defineCapability({
  settings: {
    key: 'tracing',
    schema: tracingSettings.prefault({}).describe('Traces, for a collector of OpenTelemetry.'),
    needsRestart: true,
  },
  purposes: ['serve', 'stdio'],
  open(settings, { limits, events, now }) {
    if (!settings.enabled) return undefined;
    const tracer = createTracer({ ...settings, ...limits.tracing }, events);
    const requests = new WeakMap<RequestRecord, HttpRequest>();
    return {
      ...traceReads(now),
      wrapDispatch: traceOperations(tracer),
      onRequest(request, operation) {
        const { record, trace } = request;
        // Probes come every few seconds.
        if (operation.isProbe) return;
        record.span = tracer.begin('request', trace, record);
        requests.set(record, request);
      },
      // Of a stream, only how it was opened.
      onSettled({ record, req }) {
        if (record.openedMs !== undefined) endSpan(record, req);
      },
      listeners: [
        {
          requestEnded(record) {
            const request = requests.get(record);
            if (request !== undefined && record.openedMs === undefined) endSpan(record, request.req);
          },
        },
      ],
      stop: tracer.close,
    };
  },
});

function endSpan(record: RequestRecord, req: HttpRequest['req']): void {
  const { span, requestId, method, route, status, outcome, error } = record;
  span?.end({
    ...{ requestId, method, route, status, outcome },
    scheme: 'encrypted' in req.socket ? 'https' : 'http',
    httpVersion: req.httpVersion,
    error: errorTypeOf(record),
    code: error?.code,
    resource: record.resource,
    cache: record.cache,
  });
}
