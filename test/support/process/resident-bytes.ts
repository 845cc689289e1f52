import { readFile } from 'node:fs/promises';
import type { RunningProcess } from './process.ts';

/** Bytes of memory that a process takes, all of it; 0 where the system does not say so in a file. */
export async function residentBytes({ child }: Pick<RunningProcess, 'child'>): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
