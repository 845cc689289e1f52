import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

const REASONS = ['queue_full', 'not_taken', 'shutdown'];

/** What becomes of the spans of traces that are kept. */
export function traceMetrics(families: Families): Events {
  const sent = families.counter({
    name: 'portico_trace_spans_sent_total',
    help: 'Spans that the collector of traces took.',
  });
  const dropped = families.counter({
    name: 'portico_trace_spans_dropped_total',
    help: 'Spans that were dropped: more waited than tracing.maxQueueSpans, the collector did not take them, or the process ended.',
    labels: ['reason'],
  });
  sent.at();
  for (const reason of REASONS) dropped.at(reason);

  return {
    spansSent({ spans }) {
      sent.at().value += spans;
    },
    spansDropped({ spans, reason }) {
      dropped.at(reason).value += spans;
    },
  };
}
