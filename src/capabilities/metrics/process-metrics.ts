import { getHeapStatistics } from 'node:v8';
import type { Registry } from 'prom-client';
import type { Readings } from '../../core/hooks.ts';
import type { Events } from '../../core/kernel/events.ts';
import { type Families, loadPromClient } from './families.ts';

export interface SettingsMetricsOptions {
  readonly settingsHash: () => string;
  readonly now: () => number;
}

export function settingsMetrics({ counter, gauge }: Families, { settingsHash, now }: SettingsMetricsOptions) {
  const changes = counter('portico_settings_changes_total', 'Times that changed settings took effect.');
  const successful = gauge(
    'portico_settings_last_reload_successful',
    'Whether the last reload of the settings succeeded: 1, or 0 where they were refused.',
  );
  const succeededAt = gauge(
    'portico_settings_last_reload_success_timestamp_seconds',
    'Last time that settings were read and not refused, since the epoch.',
  );
  const pending = gauge('portico_settings_restart_pending', 'Whether changed settings need a restart to take effect.');
  const info = gauge(
    'portico_settings_info{hash}',
    'Always 1; the label is a hash of the settings in force, without secrets.',
  );
  let hash: string | undefined;

  function succeed(needRestart: readonly string[]): void {
    successful(1);
    succeededAt(now() / 1000);
    pending(needRestart.length > 0 ? 1 : 0);
  }

  succeed([]);
  const events: Events = {
    settingsReloaded: ({ needRestart }) => succeed(needRestart),
    settingsRefused: () => successful(0),
    settingsChanged({ applied }) {
      if (applied.length > 0) changes();
    },
  };
  return {
    events,
    collect() {
      if (hash !== undefined) info(undefined, hash);
      hash = settingsHash();
      info(1, hash);
    },
  };
}

/** Spans, dropped lines, and what runs. */
export function ownMetrics({ counter, total, gauge }: Families, version: string, dropped: Partial<Readings>): Events {
  const spansSent = counter('portico_trace_spans_sent_total', 'Spans that the trace collector accepted.');
  const spansDropped = counter(
    'portico_trace_spans_dropped_total{reason}',
    'Spans that were dropped: more waited than the bound tracing.maxQueueSpans, or the collector failed.',
  );
  const build = gauge('portico_build_info{version,node_version}', 'Always 1; the labels are the versions that run.');
  total('portico_log_lines_dropped_total', 'Log lines that were dropped because their reader was too slow.', () =>
    dropped.droppedLogLines?.(),
  );
  const heapLimit = gauge(
    'portico_heap_limit_bytes',
    'Limit of the whole heap; the process ends where it is exceeded.',
  );
  for (const reason of ['queue_full', 'not_taken']) spansDropped(0, reason);
  build(1, version, process.versions.node);
  heapLimit(getHeapStatistics().heap_size_limit);

  return {
    spansSent: ({ spans }) => spansSent(spans),
    spansDropped: ({ spans, reason }) => spansDropped(spans, reason),
  };
}

let processRegistry: Registry | undefined;

/** prom-client's metrics of the process: one registry for all gateways, because its observers never end. */
export function processMetrics(): Registry {
  if (processRegistry === undefined) {
    const { collectDefaultMetrics, Registry } = loadPromClient();
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}
