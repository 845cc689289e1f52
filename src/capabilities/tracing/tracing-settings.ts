import { z } from 'zod';
import { baseUrl, requestHeaderName, scalarText } from '../../core/config/schema/scalars.ts';
import type { Limits } from '../../core/kernel/limits.ts';

export const tracingSettings = z.strictObject({
  enabled: z.boolean().default(false).describe('Whether traces are kept and sent to a collector.'),
  endpoint: baseUrl
    .refine((url) => !URL.canParse(url) || new URL(url).pathname !== '/', 'must name the path, as /v1/traces')
    .default('http://127.0.0.1:4318/v1/traces')
    .describe('Where the collector takes OTLP over HTTP, the whole URL. It is sent JSON.'),
  headers: z
    .record(requestHeaderName, scalarText)
    .prefault({})
    .describe('Headers that the collector is sent, such as a key from the environment.'),
  sampleRatio: z
    .number({ error: ({ code }) => (code === 'invalid_type' ? 'expected a number from 0 to 1' : undefined) })
    .min(0)
    .max(1)
    .default(0.01)
    .describe(
      'Share of the traces that begin here which is kept; those of failed requests are always. A trace of a caller is kept where the caller keeps it.',
    ),
  serviceName: z.string().min(1).max(128).default('portico').describe('What traces call this service.'),
});

export type TracingSettings = z.output<typeof tracingSettings> & Limits['tracing'];
