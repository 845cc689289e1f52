import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from 'undici';
import { nameError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { TracingSettings } from './tracing-settings.ts';

type Settings = Pick<TracingSettings, 'endpoint' | 'headers' | 'timeoutMs' | 'intervalMs' | 'maxQueueSpans'>;

/** Spans that are written in one step: a third of a millisecond. */
const BATCH_SPANS = 128;

/** Sends batches of spans by OTLP over HTTP. One that is not accepted is dropped, because a retry would have to keep it. */
export function createSpanExporter<T>(settings: Settings, write: (spans: readonly T[]) => string, events: Events) {
  const { maxQueueSpans, intervalMs } = settings;
  const collector = createCollector(settings, write);
  const waiting: T[] = [];
  /** Spans that wait, are being sent, or have ended since the exporter began to close. */
  let held = 0;
  /** Dropped for lack of room, not emitted yet. */
  let refused = 0;
  let state: 'open' | 'closing' | 'closed' = 'open';
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  function emitRefused(): void {
    if (refused > 0) events.spansDropped?.({ spans: refused, reason: 'queue_full' });
    refused = 0;
  }

  async function sendBatch(): Promise<void> {
    const batch = waiting.splice(0, BATCH_SPANS);
    const cause = await collector.post(batch);
    if (state === 'closed') return;
    held -= batch.length;
    if (cause === undefined) events.spansSent?.({ spans: batch.length });
    else events.spansDropped?.({ spans: batch.length, reason: 'not_taken', cause });
    // Afterwards: of both, the log emits the first, which has the cause.
    emitRefused();
  }

  async function sendBatches(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    do await sendBatch();
    while (waiting.length >= (state === 'open' ? BATCH_SPANS : 1));
    sending = undefined;
    if (waiting.length > 0) sendLater();
  }

  function send(): void {
    sending ??= sendBatches();
  }

  function sendLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      send();
    }, intervalMs).unref();
  }

  return {
    add(span: T): void {
      if (held >= maxQueueSpans) refused += 1;
      else {
        held += 1;
        if (state !== 'open') return;
        waiting.push(span);
        if (waiting.length >= BATCH_SPANS) send();
        else sendLater();
      }
    },
    /** Sends all spans that wait, for so long at most, and drops the rest. */
    async close(withinMs: number): Promise<void> {
      state = 'closing';
      if (waiting.length > 0) send();
      const ended = new AbortController();
      await Promise.race([sending, sleep(withinMs, undefined, { signal: ended.signal })]);
      ended.abort();
      state = 'closed';
      clearTimeout(timer);
      emitRefused();
      if (held > 0) events.spansDropped?.({ spans: held, reason: 'shutdown' });
      waiting.length = 0;
      held = 0;
      await collector.close();
    },
  };
}

/** A collector: `post` resolves with why it has not accepted spans; `undefined` where it has. */
function createCollector<T>({ endpoint, headers, timeoutMs }: Settings, write: (spans: readonly T[]) => string) {
  const all = { 'user-agent': 'portico', ...headers, 'content-type': 'application/json' };
  let dispatcher: Agent | undefined;

  return {
    async post(spans: readonly T[]): Promise<string | undefined> {
      try {
        const body = write(spans);
        const { Agent, request } = await import('undici');
        dispatcher ??= new Agent({ connections: 1, allowH2: false });
        const signal = AbortSignal.timeout(timeoutMs);
        const response = await request(endpoint, { dispatcher, method: 'POST', headers: all, body, signal });
        // What else it says is not read far: the batch has been accepted, or not.
        await response.body.dump();
        return response.statusCode < 300 ? undefined : `status ${response.statusCode}`;
      } catch (error) {
        return nameError(error as Error);
      }
    },
    close: async () => dispatcher?.destroy(),
  };
}
