import { renameSync, writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

// Loaded ahead of a server with `--import`: reports to the bench, in the file that the environment names, how long the process
// has stood still for collecting garbage. The server runs as ever beside it.
const file = process.env['BENCH_GC_FILE'] ?? '';
const RECENT_MS = 2500;

let totalMs = 0;
let recent: { readonly endedAt: number; readonly ms: number }[] = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    totalMs += duration;
    recent.push({ endedAt: startTime + duration, ms: duration });
  }
}).observe({ entryTypes: ['gc'] });

setInterval(() => {
  recent = recent.filter(({ endedAt }) => performance.now() - endedAt < RECENT_MS);
  // Written beside it and then put in its place: the bench may read at any time.
  writeFileSync(`${file}.new`, JSON.stringify({ totalMs, longestMs: Math.max(0, ...recent.map(({ ms }) => ms)) }));
  renameSync(`${file}.new`, file);
}, 200).unref();
