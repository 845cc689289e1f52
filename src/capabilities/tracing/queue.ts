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
  /** Has all sent at once that waits: resolves when nothing is left, taken or not. */
  empty(): Promise<void>;
  /** Gives up what is left. */
  close(): void;
}

/** Spans that are written in one step: a third of a millisecond. */
const BATCH_SPANS = 128;
/** `send` keeps its own time, so that this is for a bug alone. */
const BEYOND_MS = 5000;

/**
 * Sends spans in batches. Waiting spans and those being sent have a common bound: the SDK's processor bounds waiting ones only, and
 * does not count drops. A rejected batch is dropped, because a retry would have to keep it.
 */
export function createQueue({ maxQueueSpans, intervalMs, timeoutMs, send, events }: QueueOptions): Queue {
  let held = 0;
  /** Dropped for lack of room, not emitted yet. */
  let refused = 0;
  /** Ended when all was being sent already. */
  let late = 0;
  let isClosed = false;
  const emptied = Promise.withResolvers<void>();
  let isEmptying = false;

  function emitRefused(): void {
    if (refused > 0) events.spansDropped?.({ spans: refused, reason: 'queue_full' });
    refused = 0;
  }

  function settle(): void {
    if (isEmptying && held === 0) emptied.resolve();
  }

  async function hand(spans: readonly ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    const cause = await send(spans);
    held -= spans.length;
    if (!isClosed) {
      if (cause === undefined) events.spansSent?.({ spans: spans.length });
      else events.spansDropped?.({ spans: spans.length, reason: 'not_taken', cause });
    }
    // Afterwards: of both, the log emits the first, which has the cause.
    emitRefused();
    settle();
    done({ code: cause === undefined ? ExportResultCode.SUCCESS : ExportResultCode.FAILED });
  }

  const batches = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) => void hand(spans, done),
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
      if (isEmptying) late += 1;
      else if (held >= maxQueueSpans) refused += 1;
      else {
        held += 1;
        batches.onEnd(span);
      }
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    empty() {
      isEmptying = true;
      // It rejects with the first batch that is not taken.
      batches.shutdown().catch(() => {});
      settle();
      return emptied.promise;
    },
    close() {
      emitRefused();
      if (held + late > 0) events.spansDropped?.({ spans: held + late, reason: 'shutdown' });
      isClosed = true;
    },
  };
}
