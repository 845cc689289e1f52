import { startTracer } from '../../../src/capabilities/tracing/tracer.ts';

// Begins and ends far more spans than its heap holds, for a collector that takes none. Prints how many were dropped.

const SPANS = 60_000;
let dropped = 0;
const tracer = await startTracer({
  ...{ sampleRatio: 1, intervalMs: 100, maxQueueSpans: Number(process.argv[2]) },
  events: {
    spansDropped({ spans }) {
      dropped += spans;
    },
  },
});
for (let span = 0; span < SPANS; span += 1) {
  tracer.begin('request', undefined)?.end({ method: 'GET', route: '/mcp', status: 200, outcome: 'ok' });
  if (span % 1000 === 0) await new Promise(setImmediate);
}
await tracer.stop(0);
process.stdout.write(`${dropped}\n`, () => process.exit());
