import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import type { Readings } from '../../core/hooks.ts';
import type { Events } from '../../core/kernel/events.ts';
import { watchEventLoop } from '../../core/kernel/turns.ts';
import type { Families } from './families.ts';

const TIMER_MS = 20;

export const LOG_LINES_DROPPED = [
  'portico_log_lines_dropped_total',
  'Log lines that were dropped because their reader was too slow.',
] as const;

const GC_TYPES: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

export interface SettingsMetricsOptions {
  readonly settingsHash: () => string;
  readonly now: () => number;
}

export function settingsMetrics({ counter, gauge }: Families, { settingsHash, now }: SettingsMetricsOptions) {
  const changes = counter('portico_settings_changes_total', 'Times that changed settings took effect.');
  const successful = gauge(
    'portico_settings_last_reload_successful',
    'Whether the last reload of the settings succeeded: 1, or 0 where they were refused.',
    'min',
  );
  const succeededAt = gauge(
    'portico_settings_last_reload_success_timestamp_seconds',
    'Last time that settings were read and not refused, since the epoch.',
    'min',
  );
  const pending = gauge(
    'portico_settings_restart_pending',
    'Whether changed settings need a restart to take effect.',
    'max',
  );
  const info = gauge(
    'portico_settings_info{hash}',
    'Always 1; the label is a hash of the settings in force, without secrets.',
    'max',
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

/** Spans, dropped lines, and the process itself, whose event loop and garbage collection are observed until `drained`. */
export function processMetrics(families: Families, version: string, dropped: Partial<Readings>) {
  const { counter, total, gauge, histogram } = families;
  const spansSent = counter('portico_trace_spans_sent_total', 'Spans that the trace collector accepted.');
  const spansDropped = counter(
    'portico_trace_spans_dropped_total{reason}',
    'Spans that were dropped: more waited than the bound tracing.maxQueueSpans, or the collector failed.',
  );
  const build = gauge(
    'portico_build_info{version,node_version}',
    'Always 1; the labels are the versions that run.',
    'first',
  );
  const logLines = total(...LOG_LINES_DROPPED);
  const auditLines = total(
    'portico_audit_lines_dropped_total',
    'Audit lines that were dropped because their file could not be written.',
  );
  const delays = histogram(
    'portico_event_loop_delay_seconds',
    `Delays of a timer of ${TIMER_MS} ms, as the event loop causes them.`,
  );
  const loopTime = total(
    'nodejs_eventloop_time_seconds_total{nodejs_eventloop_state}',
    'Time for which the event loop was active, and idle.',
  );
  const gc = histogram('v8js_gc_duration_seconds{v8js_gc_type}', 'Pauses for garbage collection.');
  const heap = gauge('v8js_memory_heap_used_bytes{v8js_heap_space_name}', 'Heap in use, by space.');
  const heapLimit = gauge(
    'portico_heap_limit_bytes',
    'Limit of the whole heap; the process ends where it is exceeded.',
  );
  const external = gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the heap, such as snapshots.');
  const resident = gauge('process_resident_memory_bytes', 'Resident memory.');
  const cpu = total('process_cpu_seconds_total', 'Processor time, user and system.');
  const started = gauge('process_start_time_seconds', 'Start of the process, since the epoch.', 'min');
  const descriptors = gauge('process_open_fds', 'Open file descriptors. Only where /proc exists.');
  const maxDescriptors = gauge(
    'process_max_fds',
    'Limit of file descriptors, which bounds connections, too. Only where /proc exists.',
  );

  for (const reason of ['queue_full', 'not_taken']) spansDropped(0, reason);
  build(1, version, process.versions.node);
  for (const type of Object.values(GC_TYPES)) gc(undefined, type);
  started(Math.round(performance.timeOrigin) / 1000);

  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as GcEntry[]) gc(duration, GC_TYPES[detail.kind] ?? '_OTHER');
  });
  let stopWatching = () => {};

  return {
    events: {
      listening() {
        observer.observe({ entryTypes: ['gc'] });
        stopWatching = watchEventLoop(TIMER_MS, delays);
      },
      spansSent: ({ spans }) => spansSent(spans),
      spansDropped: ({ spans, reason }) => spansDropped(spans, reason),
      drained() {
        observer.disconnect();
        stopWatching();
      },
    } satisfies Events,
    async collect() {
      const { idle, active } = performance.eventLoopUtilization();
      loopTime(active / 1000, 'active');
      loopTime(idle / 1000, 'idle');
      for (const { space_name, space_used_size } of getHeapSpaceStatistics()) heap(space_used_size, space_name);
      heapLimit(getHeapStatistics().heap_size_limit);
      const memory = process.memoryUsage();
      external(memory.external);
      resident(memory.rss);
      const { user, system } = process.cpuUsage();
      cpu((user + system) / 1e6);
      logLines(dropped.droppedLogLines?.());
      auditLines(dropped.droppedAuditLines?.());
      descriptors(await countDescriptors());
      maxDescriptors(readDescriptorLimit());
    },
  };
}

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
