import { startTracer } from '../../../src/capabilities/tracing/tracer.ts';

// Begins and ends far more spans than its heap holds, for a collector that takes none.

const SPANS = 40_000;
const tracer = await startTracer({
  ...{ sampleRatio: 1, intervalMs: 100, maxQueueSpans: Number(process.argv[2]) },
  events: {},
});
for (let span = 0; span < SPANS; span += 1) {
  tracer.begin('GET /mcp', 'SERVER', undefined)?.end({ 'http.route': '/mcp', 'http.response.status_code': 200 });
  if (span % 1000 === 0) await new Promise(setImmediate);
}
await tracer.stop(0);
process.exit();
