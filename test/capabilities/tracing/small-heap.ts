import { createTracer } from '../../../src/capabilities/tracing/tracer.ts';

// Begins and ends far more spans than its heap holds, for a collector that takes none. Prints how many were dropped.

const [endpoint = '', maxQueueSpans = ''] = process.argv.slice(2);
const SPANS = 60_000;
let dropped = 0;
const tracing = createTracer(
  {
    ...{ enabled: true, endpoint, headers: {}, sampleRatio: 1, serviceName: 'test' },
    ...{ timeoutMs: 60_000, intervalMs: 100, maxQueueSpans: Number(maxQueueSpans) },
  },
  {
    spansDropped({ spans }) {
      dropped += spans;
    },
  },
);
for (let span = 0; span < SPANS; span += 1) {
  tracing.begin('request', undefined)?.end({ method: 'GET', route: '/mcp', status: 200, outcome: 'ok' });
  if (span % 1000 === 0) await new Promise(setImmediate);
}
await tracing.close(0);
process.stdout.write(`${dropped}\n`);
