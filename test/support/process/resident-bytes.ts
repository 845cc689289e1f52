import { readFile } from 'node:fs/promises';
import type { RunningProcess } from './process.ts';

/** Resident memory of a process in bytes; 0 if the system does not report it. */
export async function residentBytes({ child }: Pick<RunningProcess, 'child'>): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
