import type { Exchange } from '../../core/http/exchange.ts';
import { errorTypeOf } from '../../core/kernel/caller.ts';
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
    return {
      ...traceReads(now),
      wrapDispatch: traceOperations(tracer),
      onRequest(exchange, operation) {
        // Probes come every few seconds.
        if (!operation.isProbe) exchange.span = tracer.begin('request', exchange.trace, exchange);
      },
      // Of a stream, only how it was opened.
      onSettled(exchange) {
        if (exchange.openedMs !== undefined) endSpan(exchange);
      },
      listeners: [
        {
          requestEnded(request) {
            if (request.edge === 'http' && request.openedMs === undefined) endSpan(request as Exchange);
          },
        },
      ],
      stop: tracer.close,
    };
  },
});

function endSpan(exchange: Exchange): void {
  const { span, req, requestId, method, route, status, outcome, error } = exchange;
  span?.end({
    ...{ requestId, method, route, status, outcome },
    scheme: 'encrypted' in req.socket ? 'https' : 'http',
    httpVersion: req.httpVersion,
    error: errorTypeOf(exchange),
    code: error?.code,
    resource: exchange.resource,
    cache: exchange.cache,
  });
}
