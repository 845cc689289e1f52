import { startTracer } from '../../../src/capabilities/tracing/tracer.ts';
import { under } from '../../../src/core/kernel/caller.ts';
import type { Span } from '../../../src/core/kernel/trace.ts';
import { callerOf } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import type { Collector } from '../../support/process/collector.ts';
import { departureOf, deployment } from '../shared-cache/deployment.ts';
import { exportTo } from './traced.ts';

/** Has one replica load a list, and another take it: each below a span of this name, `refresh` without a resource. */
export async function traceReplicas(collector: Collector): Promise<void> {
  exportTo(collector);
  const tracing = await startTracer({ sampleRatio: 1, intervalMs: 5000, maxQueueSpans: 100, events: {} });
  const { replica } = deployment();
  const [one, other] = [replica(), replica()];
  const as = (span: Span | undefined) => under(callerOf('ada'), span);

  const first = tracing.begin('refresh', undefined);
  const reading = one.tools.read(as(first));
  (await departureOf(one.tools)).land([{ id: 'a' }]);
  await reading;
  first?.end();
  await eventually(() => one.puts.length > 0);

  const second = tracing.begin('refresh', undefined);
  await other.tools.read(as(second));
  second?.end();
  await tracing.stop(10_000);
}
