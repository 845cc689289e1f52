import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createTracer, type Tracer } from '../../../src/capabilities/tracing/tracer.ts';
import type { TracingSettings } from '../../../src/capabilities/tracing/tracing-settings.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { readVersion } from '../../../src/core/kernel/version.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listening.ts';
import { inTurn, json } from '../../support/platform/http-upstream.ts';
import { type Collector, startCollector } from '../../support/process/collector.ts';
import { porticoEnvironment, startProcess } from '../../support/process/process.ts';

type Dropped = Parameters<NonNullable<Events['spansDropped']>>[0];

describe('spans on their way to the collector', () => {
  let collector: Collector;
  let sent: number;
  let dropped: Dropped[];

  beforeEach(async () => {
    collector = await startCollector();
    sent = 0;
    dropped = [];
  });

  function open(settings: Partial<TracingSettings> = {}): Tracer {
    const tracing = createTracer(
      {
        ...{ enabled: true, endpoint: `${collector.url}/v1/traces`, headers: {}, sampleRatio: 1, serviceName: 'test' },
        ...{ timeoutMs: 60_000, intervalMs: 100, maxQueueSpans: 1000, ...settings },
      },
      {
        spansSent({ spans }) {
          sent += spans;
        },
        spansDropped: (told) => dropped.push(told),
      },
    );
    onCleanup(() => tracing.close(0));
    return tracing;
  }

  const end = (tracing: Tracer, count = 1) => {
    for (let index = 0; index < count; index += 1) tracing.begin('request', undefined)?.end({ method: 'GET' });
  };

  it('leave together, with the headers of settings and the name of the service', async () => {
    const tracing = open({ headers: { 'x-api-key': 'key-of-the-test' } });
    end(tracing, 100);
    await eventually(() => sent === 100);
    expect(collector.bodies).to.have.length(1);
    expect(collector.headers[0]).to.include({ 'x-api-key': 'key-of-the-test', 'content-type': 'application/json' });
    expect(collector.spans[0]?.resource).to.include({ 'service.name': 'test', 'service.version': readVersion() });
    expect(dropped).to.deep.equal([]);
  });

  it('leave at the end, without a wait for others', async () => {
    const tracing = open({ intervalMs: 86_400_000 });
    end(tracing, 1000);
    await tracing.close(10_000);
    expect([collector.spans.length, sent, dropped]).to.deep.equal([1000, 1000, []]);
    expect(collector.bodies).to.have.length(8);
    expect(collector.connections()).to.equal(1);
  });

  it('leave over HTTP/1.1, whatever a collector could speak', async () => {
    const hellos: string[] = [];
    const { port } = await listen(
      createServer((socket) => socket.once('data', (hello) => socket.destroy(void hellos.push(String(hello))))),
    );
    end(open({ endpoint: `https://127.0.0.1:${port}/v1/traces` }));
    await eventually(() => dropped.length > 0);
    expect(hellos[0]).to.contain('\x08http/1.1').and.not.to.contain('\x02h2');
  });

  it('start at the given time, or now, and end once', async () => {
    const tracing = open();
    const before = Date.now();
    tracing.begin('read', undefined, { begun: performance.now() - 3_600_000 })?.end();
    const load = tracing.begin('load', undefined);
    for (const _ of [1, 2]) load?.end();
    const tookMs = Date.now() - before;
    await eventually(() => sent === 2);
    const [earlier = 0, now = 0] = ['read', 'load'].map((name) => Number(collector.one(name).begun) / 1e6 - before);
    expect(earlier).to.be.within(-3_600_100, -3_599_900 + tookMs);
    expect(now).to.be.within(-100, 100 + tookMs);
  });

  it('are dropped, and reported once, if there are too many', async () => {
    collector.respond(() => {});
    const tracing = open({ maxQueueSpans: 100, timeoutMs: 60_000, intervalMs: 86_400_000 });
    end(tracing, 1000);
    await tracing.close(50);
    expect(dropped).to.deep.equal([
      { spans: 900, reason: 'queue_full' },
      { spans: 100, reason: 'shutdown' },
    ]);
    expect(sent).to.equal(0);
  });

  it('take no memory beyond the queue, where the collector never answers', async () => {
    collector.respond(() => {});
    const child = fileURLToPath(new URL('small-heap.ts', import.meta.url));
    const args = ['--max-old-space-size=48', child, `${collector.url}/v1/traces`, '1000'];
    const { code, stdout } = await startProcess(process.execPath, args, { env: porticoEnvironment() }).ended;
    expect([code, stdout]).to.deep.equal([0, '60000\n']);
  });

  it('count for the queue as long as they are being sent', async () => {
    const held: (() => void)[] = [];
    collector.respond((request, response) => {
      request.resume();
      held.push(() => json({})(request, response));
    });
    const tracing = open({ maxQueueSpans: 105, timeoutMs: 60_000 });
    end(tracing, 100);
    await eventually(() => held.length === 1);
    end(tracing, 10);
    held[0]?.();
    await eventually(() => held.length === 2);
    expect([sent, dropped]).to.deep.equal([100, [{ spans: 5, reason: 'queue_full' }]]);
    held[1]?.();
    collector.respond(json({}));
    end(tracing, 10);
    await eventually(() => sent === 115);
    expect(dropped).to.have.length(1);
  });

  for (const [what, cause, answer] of [
    ['says 503', 'status 503', json({}, 503)],
    ['redirects', 'status 307', json({}, 307, { location: '/elsewhere' })],
    ['hangs up', 'SocketError UND_ERR_SOCKET', (request) => request.socket.destroy()],
    ['does not listen', 'Error ECONNREFUSED', undefined],
  ] as const satisfies readonly (readonly [string, string, RequestListener | undefined])[]) {
    it(`are dropped where the collector ${what}, and the next ones are sent`, async () => {
      if (answer === undefined) await collector.refuse();
      else collector.respond(inTurn(answer, json({})));
      const tracing = open();
      end(tracing, 5);
      await eventually(() => dropped.length > 0);
      expect(dropped).to.deep.equal([{ spans: 5, reason: 'not_taken', cause }]);
      await collector.accept();
      end(tracing, 7);
      await eventually(() => sent === 7);
    });
  }

  for (const [what, bytes, timeoutMs] of [
    ['byte after byte', 1, 500],
    ['without an end', 65_536, 86_400_000],
  ] as const) {
    it(`are sent if the collector answers ${what}, and the connection is closed then`, async () => {
      let isLeft = false;
      collector.respond((_request, response) => {
        const timer = setInterval(() => response.write('.'.repeat(bytes)), 5);
        response.on('close', () => {
          clearInterval(timer);
          isLeft = true;
        });
      });
      const tracing = open({ timeoutMs });
      await eventually(() => {
        end(tracing);
        return sent > 0;
      });
      await eventually(() => isLeft);
    });
  }

  it('do not wait for those that end later, and count them', async () => {
    collector.respond((request, response) => {
      request.resume();
      end(tracing, 5);
      json({})(request, response);
    });
    const tracing = open({ intervalMs: 86_400_000, timeoutMs: 10_000 });
    end(tracing, 10);
    await tracing.close(86_400_000);
    expect([sent, dropped]).to.deep.equal([10, [{ spans: 5, reason: 'shutdown' }]]);
  });

  it('belong to new traces in the share of sampleRatio', async () => {
    for (const [sampleRatio, least, most] of [
      [0, 0, 0],
      // Eleven standard deviations to either side.
      [0.25, 2000, 3000],
      [1, 10_000, 10_000],
    ] as const) {
      const tracing = open({ sampleRatio });
      const spans = Array.from({ length: 10_000 }, () => tracing.begin('request', undefined));
      const sampled = spans.filter((span) => span?.headers.traceparent.endsWith('-01'));
      const ids = sampled.flatMap((span) => span?.traceId ?? []);
      expect(ids.length).to.be.within(least, most);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const id of ids) expect(id).to.match(/^(?!0{32})[0-9a-f]{32}$/);
    }
  });
});
