import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { Agent, request } from 'undici';
import { nameError } from '../../core/kernel/errors.ts';
import type { TracingSettings } from './traces.ts';

/** A collector of spans, by OTLP over HTTP. */
export interface Collector {
  /** Resolves with why a batch was not taken; `undefined` where it was. */
  send(spans: readonly ReadableSpan[]): Promise<string | undefined>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** At the end, when all is sent at once; before that there is one batch at a time. */
const CONNECTIONS = 4;

/**
 * OTLP over HTTP, in JSON: read by whatever takes OTLP, and by a person. Not the exporter of the SDK, which takes settings from
 * the environment, and lets a collector that sends byte after byte take any time.
 */
export function createCollector({
  endpoint,
  headers,
  timeoutMs,
}: Pick<TracingSettings, 'endpoint' | 'headers' | 'timeoutMs'>): Collector {
  const dispatcher = new Agent({
    connections: CONNECTIONS,
    allowH2: false,
  });
  const all = { 'user-agent': 'portico', ...headers, 'content-type': 'application/json' };

  async function post(body: Uint8Array | undefined): Promise<string | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await request(endpoint, { dispatcher, method: 'POST', headers: all, body: body ?? null, signal });
    const { statusCode } = response;
    // What else it says is not read far: the batch has been taken, or not.
    await response.body.dump();
    return statusCode < 300 ? undefined : `status ${statusCode}`;
  }

  return {
    async send(spans) {
      try {
        return await post(JsonTraceSerializer.serializeRequest([...spans]));
      } catch (error) {
        return error instanceof Error ? nameError(error) : 'unknown';
      }
    },
    close: () => dispatcher.destroy(),
  };
}
