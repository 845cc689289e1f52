import type { GatewayOptions } from '../../../src/gateway.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../../support/process/collector.ts';

export const READ = 'GET /mcp/v1/resources/read';
export const TOOLS = { tools: [{ id: 'a', name: 'A' }] };
/** What is done for a read that loads one page. */
export const LOADED = { '1 INTERNAL load tools': { '1 INTERNAL page tools': { '1 CLIENT GET': {} } } };

export const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
export const SAMPLED = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
export const UNSAMPLED = `00-${PARENT.traceId}-${PARENT.spanId}-00`;

type Overrides = NonNullable<Parameters<typeof settingsFor>[1]>;

/** A gateway that keeps every trace, and the collector that it sends them to. */
export interface Traced extends RunningGateway {
  readonly collector: Collector;
  /** Ends the gateway: the collector has all spans then. */
  end(): Promise<boolean>;
}

/** Names the collector to tracers that start from now on. */
export function exportTo({ url }: Pick<Collector, 'url'>): void {
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url;
  onCleanup(() => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  });
}

export async function startTraced(
  upstream: string,
  { tracing, ...overrides }: Overrides = {},
  options: GatewayOptions = {},
): Promise<Traced> {
  const collector = await startCollector();
  exportTo(collector);
  const kept = { enabled: true, sampleRatio: 1, intervalMs: 100, ...tracing };
  const running = await startGateway(settingsFor(upstream, { ...overrides, tracing: kept }), options);
  return { ...running, collector, end: running.gateway.close };
}

/** `traceparent` that names a span. */
export function headerOf({ traceId, spanId }: ReceivedSpan): string {
  return `00-${traceId}-${spanId}-01`;
}
