import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { nameError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';

interface CountSpansOptions {
  readonly exporter: SpanExporter;
  /** Creates the processor that queues spans for an exporter. */
  process(exporter: SpanExporter): SpanProcessor;
  /** Length of its queue. */
  readonly maxQueueSpans: number;
  readonly events: Events;
}

/** The exporter's error has the status of the response as its code. */
function describeError(error: (Error & { readonly code?: unknown }) | undefined): string | undefined {
  return typeof error?.code === 'number' ? `status ${error.code}` : error && nameError(error);
}

/** Reports spans that the collector accepted, and those that were dropped: the SDK drops without a word. */
export function countSpans({ exporter, process, maxQueueSpans, events }: CountSpansOptions): SpanProcessor {
  let waiting = 0;
  const processor = process({
    export(spans, done) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        const { code, error } = result;
        if (code === 0) events.spansSent?.({ spans: spans.length });
        else events.spansDropped?.({ spans: spans.length, reason: 'not_taken', cause: describeError(error) });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  });
  return {
    onStart() {},
    onEnd(span) {
      if (waiting >= maxQueueSpans) return events.spansDropped?.({ spans: 1, reason: 'queue_full' });
      waiting += 1;
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}
