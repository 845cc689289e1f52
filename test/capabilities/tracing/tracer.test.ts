import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startTracer, type Tracer, type TracerOptions } from '../../../src/capabilities/tracing/tracer.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { inTurn, json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { type Collector, startCollector } from '../../support/process/collector.ts';
import { porticoEnvironment, startProcess } from '../../support/process/process.ts';
import { exportTo, startTraced, TOOLS, UNSAMPLED } from './traced.ts';

type Dropped = Parameters<NonNullable<Events['spansDropped']>>[0];

describe('spans on their way to the collector', () => {
  let collector: Collector;
  let dropped: Dropped[];

  beforeEach(async () => {
    collector = await startCollector();
    exportTo(collector);
    dropped = [];
  });

  async function open(options: Partial<TracerOptions> = {}): Promise<Tracer> {
    const events: Events = { spansDropped: (drop) => dropped.push(drop) };
    const tracer = await startTracer({ sampleRatio: 1, intervalMs: 100, maxQueueSpans: 1000, events, ...options });
    onCleanup(() => tracer.stop(0));
    return tracer;
  }

  const end = (tracer: Tracer, count = 1) => {
    for (let index = 0; index < count; index += 1) tracer.begin('GET', 'SERVER', undefined)?.end();
  };

  it('leave at the end, without a wait for others', async () => {
    const tracer = await open({ intervalMs: 86_400_000 });
    end(tracer, 1000);
    await tracer.stop(10_000);
    expect([collector.spans.length, dropped]).to.deep.equal([1000, []]);
  });

  it('take no memory beyond the queue, and do not delay the end, where the collector never answers', async () => {
    collector.respond(() => {});
    const child = fileURLToPath(new URL('small-heap.ts', import.meta.url));
    const env = { ...porticoEnvironment(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const { code } = await startProcess(process.execPath, ['--max-old-space-size=32', child, '1000'], { env }).ended;
    expect(code).to.equal(0);
  });

  it('are reported where the collector refuses them, and the next ones are sent', async () => {
    collector.respond(inTurn(json({}, 400), collector.take));
    const tracer = await open();
    end(tracer, 5);
    await eventually(() => dropped.length > 0);
    expect(dropped).to.deep.equal([{ spans: 5, cause: 'status 400' }]);
    end(tracer, 7);
    await eventually(() => collector.spans.length === 7);
  });
});

describe('a request that is not sampled', () => {
  it('has no spans, and the platform is sent no trace but that of the caller', async () => {
    const upstream = await startHttpUpstream(lists(TOOLS));
    const { collector, read, end } = await startTraced(upstream.url, { tracing: { sampleRatio: 0 } });
    for (const headers of [{}, { traceparent: UNSAMPLED }]) {
      expect((await read('projects', { headers })).status).to.equal(200);
    }
    await end();
    expect(collector.spans).to.deep.equal([]);
    const sent = upstream.requests.map((request) => request.headers['traceparent']?.slice(0, 35));
    expect(sent).to.deep.equal([undefined, UNSAMPLED.slice(0, 35)]);
  });
});
