import { setTimeout as sleep } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Events } from '../../core/kernel/events.ts';

export interface QueueOptions {
  readonly maxQueueSpans: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Hands a batch to the collector, within `timeoutMs`: resolves with why it was not taken, `undefined` where it was. */
  readonly send: (spans: readonly ReadableSpan[]) => Promise<string | undefined>;
  readonly events: Events;
}

/** Spans that have ended, until they are sent. */
export interface Queue extends SpanProcessor {
  /** Sends all spans that wait, for so long at most, and drops the rest. */
  close(withinMs: number): Promise<void>;
}

/** Spans that are written in one step: a third of a millisecond. */
const BATCH_SPANS = 128;
/** `send` has a timeout of its own, so that this is for a bug alone. */
const BEYOND_MS = 5000;

/**
 * Sends spans in batches. Waiting spans and those being sent have a common bound: the SDK's processor bounds waiting ones only, and
 * does not count drops. A rejected batch is dropped, because a retry would have to keep it.
 */
export function createQueue({ maxQueueSpans, intervalMs, timeoutMs, send, events }: QueueOptions): Queue {
  let held = 0;
  /** Dropped for lack of room, not emitted yet. */
  let refused = 0;
  let isClosed = false;

  function emitRefused(): void {
    if (refused > 0) events.spansDropped?.({ spans: refused, reason: 'queue_full' });
    refused = 0;
  }

  async function exportBatch(spans: readonly ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    const cause = await send(spans);
    held -= spans.length;
    if (!isClosed) {
      if (cause === undefined) events.spansSent?.({ spans: spans.length });
      else events.spansDropped?.({ spans: spans.length, reason: 'not_taken', cause });
    }
    // Afterwards: of both, the log emits the first, which has the cause.
    emitRefused();
    // Also for a failure, which has been emitted: the processor would not wait for the other batches at the end.
    done({ code: ExportResultCode.SUCCESS });
  }

  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) => void exportBatch(spans, done),
      shutdown: async () => {},
    },
    maxQueueSize: maxQueueSpans,
    maxExportBatchSize: BATCH_SPANS,
    scheduledDelayMillis: intervalMs,
    exportTimeoutMillis: timeoutMs + BEYOND_MS,
  });

  return {
    onStart() {},
    onEnd(span) {
      if (held >= maxQueueSpans) refused += 1;
      else {
        held += 1;
        batches.onEnd(span);
      }
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    async close(withinMs) {
      const ended = new AbortController();
      const late = sleep(withinMs, undefined, { signal: ended.signal });
      await Promise.race([batches.shutdown(), late]);
      ended.abort();
      emitRefused();
      if (held > 0) events.spansDropped?.({ spans: held, reason: 'shutdown' });
      isClosed = true;
    },
  };
}
