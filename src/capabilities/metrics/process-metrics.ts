import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import type { Readings } from '../../core/hooks.ts';
import type { Events } from '../../core/kernel/events.ts';
import { watchEventLoop } from '../../core/kernel/turns.ts';
import type { Families } from './families.ts';

/** Interval of the timer whose delay is measured. */
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

/** Spans, dropped lines, and the process itself, whose event loop and garbage collection are observed until `drained`. */
export function processMetrics(families: Families, version: string, dropped: Partial<Readings>) {
  const { counter, total, gauge, histogram } = families;
  const spansSent = counter('portico_trace_spans_sent_total', 'Spans that the trace collector accepted.');
  const spansDropped = counter(
    'portico_trace_spans_dropped_total',
    'Spans that were dropped: more waited than the bound tracing.maxQueueSpans, the collector failed, or the process ended.',
    ['reason'],
  );
  const build = gauge(
    'portico_build_info',
    'Always 1; the labels are the versions that run.',
    ['version', 'node_version'],
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
  const loopTime = total('nodejs_eventloop_time_seconds_total', 'Time for which the event loop was active, and idle.', [
    'nodejs_eventloop_state',
  ]);
  const gc = histogram('v8js_gc_duration_seconds', 'Pauses for garbage collection.', ['v8js_gc_type']);
  const heap = gauge('v8js_memory_heap_used_bytes', 'Heap in use, by space.', ['v8js_heap_space_name']);
  const heapLimit = gauge(
    'portico_heap_limit_bytes',
    'Limit of the whole heap; the process ends where it is exceeded.',
  );
  const external = gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the heap, such as snapshots.');
  const resident = gauge('process_resident_memory_bytes', 'Resident memory.');
  const cpu = total('process_cpu_seconds_total', 'Processor time, user and system.');
  const started = gauge('process_start_time_seconds', 'Start of the process, since the epoch.', [], 'min');
  const descriptors = gauge('process_open_fds', 'Open file descriptors. Only where /proc exists.');
  const maxDescriptors = gauge(
    'process_max_fds',
    'Limit of file descriptors, which bounds connections, too. Only where /proc exists.',
  );

  for (const reason of ['queue_full', 'not_taken', 'shutdown']) spansDropped({ reason }, 0);
  build({ version, node_version: process.versions.node }, 1);
  for (const type of Object.values(GC_TYPES)) gc({ v8js_gc_type: type });
  started({}, Math.round(performance.timeOrigin) / 1000);

  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as GcEntry[]) {
      gc({ v8js_gc_type: GC_TYPES[detail.kind] ?? '_OTHER' }, duration);
    }
  });
  let stopWatching = () => {};

  return {
    events: {
      listening() {
        observer.observe({ entryTypes: ['gc'] });
        stopWatching = watchEventLoop(TIMER_MS, (delayMs) => delays({}, delayMs));
      },
      spansSent: ({ spans }) => spansSent({}, spans),
      spansDropped: ({ spans, reason }) => spansDropped({ reason }, spans),
      drained() {
        observer.disconnect();
        stopWatching();
      },
    } satisfies Events,
    /** Updates the metrics that are read at a scrape. */
    async collect() {
      const { idle, active } = performance.eventLoopUtilization();
      loopTime({ nodejs_eventloop_state: 'active' }, active / 1000);
      loopTime({ nodejs_eventloop_state: 'idle' }, idle / 1000);
      for (const space of getHeapSpaceStatistics())
        heap({ v8js_heap_space_name: space.space_name }, space.space_used_size);
      heapLimit({}, getHeapStatistics().heap_size_limit);
      const memory = process.memoryUsage();
      external({}, memory.external);
      resident({}, memory.rss);
      const { user, system } = process.cpuUsage();
      cpu({}, (user + system) / 1e6);
      logLines({}, dropped.droppedLogLines?.());
      auditLines({}, dropped.droppedAuditLines?.());
      descriptors({}, await countDescriptors());
      maxDescriptors({}, readDescriptorLimit());
    },
  };
}

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
