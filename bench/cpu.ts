import { readdirSync, readFileSync } from 'node:fs';

/** Processor time, in milliseconds, that the threads of a process and its children have used so far (`/proc/PID/schedstat`). */
export function cpuMs(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    total += Number(nanoseconds) / 1e6;
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
    for (const child of children) total += cpuMs(Number(child));
  }
  return total;
}
