import { readdir, readFile } from 'node:fs/promises';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** How often the delay of the event loop is looked at. */
const LOOK_MS = 20;

const GC_TYPES: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/** Lines that were dropped so far. */
export interface DroppedLines {
  /** Of the log. `undefined`: nobody knows. */
  readonly droppedLines: (() => number) | undefined;
  /** Of the audit. @default it has no file of its own */
  readonly droppedAuditLines?: (() => number) | undefined;
}

/** What is known of the process itself. */
export interface ProcessMetrics {
  /** It is watched from `listening` until `drained`. */
  readonly events: Events;
  /** Brings what is looked up, rather than counted, up to date. */
  collect(): Promise<void>;
}

export function processMetrics(
  families: Families,
  version: string,
  { droppedLines, droppedAuditLines }: DroppedLines,
): ProcessMetrics {
  const build = families.gauge({
    name: 'portico_build_info',
    help: 'Always 1: what runs here.',
    labels: ['version', 'node_version'],
  });
  const dropped = families.counter({
    name: 'portico_log_lines_dropped_total',
    help: 'Log lines that were dropped since standard output was not read.',
  });
  const droppedAudit = families.counter({
    name: 'portico_audit_lines_dropped_total',
    help: 'Lines of the audit that were dropped since its file could not be written.',
  });
  const delays = families.histogram({
    name: 'portico_event_loop_delay_seconds',
    help: `How much later than after ${LOOK_MS} ms a timer was called, over and over.`,
  });
  const loopTime = families.counter({
    name: 'nodejs_eventloop_time_seconds_total',
    help: 'How long the event loop has been active, and idle.',
    labels: ['nodejs_eventloop_state'],
  });
  const gc = families.histogram({
    name: 'v8js_gc_duration_seconds',
    help: 'How long garbage collection stood in the way.',
    labels: ['v8js_gc_type'],
  });
  const heap = families.gauge({
    name: 'v8js_memory_heap_used_bytes',
    help: 'The heap in use, by its spaces.',
    labels: ['v8js_heap_space_name'],
  });
  const heapLimit = families.gauge({
    name: 'portico_heap_limit_bytes',
    help: 'What the whole heap may grow to; beyond, the process ends.',
  });
  const external = families.gauge({
    name: 'nodejs_external_memory_bytes',
    help: 'Memory of buffers, outside the heap: snapshots are there.',
  });
  const resident = families.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' });
  const cpu = families.counter({ name: 'process_cpu_seconds_total', help: 'Processor time, of user and system.' });
  const started = families.gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, since the epoch.',
  });
  const descriptors = families.gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors. Only where there is /proc.',
  });
  const maxDescriptors = families.gauge({
    name: 'process_max_fds',
    help: 'How many there may be: beyond, connections are refused, and nothing tells so. Only where there is /proc.',
  });

  const changes = families.counter({
    name: 'portico_settings_changes_total',
    help: 'Times that other settings took effect.',
  });

  changes.at();
  build.at(version, process.versions.node).value = 1;
  started.at().value = Math.round(performance.timeOrigin) / 1000;
  for (const type of Object.values(GC_TYPES)) gc.at(type);
  delays.at();

  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as GcEntry[]) {
      gc.at(GC_TYPES[detail.kind] ?? '_OTHER').observe(duration / 1000);
    }
  });
  let timer: NodeJS.Timeout | undefined;

  function watchDelay(): void {
    let last = performance.now();
    timer = setInterval(() => {
      const now = performance.now();
      delays.at().observe(Math.max(0, now - last - LOOK_MS) / 1000);
      last = now;
    }, LOOK_MS).unref();
  }

  return {
    events: {
      listening() {
        observer.observe({ entryTypes: ['gc'] });
        watchDelay();
      },
      settingsChanged({ applied }) {
        if (applied.length > 0) changes.at().value += 1;
      },
      drained() {
        observer.disconnect();
        clearInterval(timer);
      },
    },
    async collect() {
      const { idle, active } = performance.eventLoopUtilization();
      loopTime.at('active').value = active / 1000;
      loopTime.at('idle').value = idle / 1000;
      for (const { space_name, space_used_size } of getHeapSpaceStatistics())
        heap.at(space_name).value = space_used_size;
      heapLimit.at().value = getHeapStatistics().heap_size_limit;
      const memory = process.memoryUsage();
      external.at().value = memory.external;
      resident.at().value = memory.rss;
      const { user, system } = process.cpuUsage();
      cpu.at().value = (user + system) / 1e6;
      if (droppedLines !== undefined) dropped.at().value = droppedLines();
      if (droppedAuditLines !== undefined) droppedAudit.at().value = droppedAuditLines();
      const open = await readdir('/proc/self/fd').catch(() => undefined);
      if (open !== undefined) descriptors.at().value = open.length;
      const most = await maxOpenFiles();
      if (most !== undefined) maxDescriptors.at().value = most;
    },
  };
}

/** The soft limit, as proc(5) has it; `undefined` where there is none, or it cannot be read. */
async function maxOpenFiles(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, most] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return most === undefined ? undefined : Number(most);
}

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
