import { readFileSync } from 'node:fs';

/** Linux reports a process's time in hundredths of a second (`USER_HZ`). */
const TICK_MS = 10;

/** Processor time, in milliseconds, that a process and its children have used so far. */
export function cpuMs(pid: number): number {
  // The second field is the name, in parentheses, and may hold anything.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[^)]*$)/);
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.reduce((total, child) => total + cpuMs(Number(child)), (user + system) * TICK_MS);
}
