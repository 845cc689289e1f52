import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Workshop } from './workshop.ts';

/** How long a process has stood still for collecting garbage. */
export interface Garbage {
  /** Since its start, in milliseconds. */
  readonly totalMs: number;
  /** The longest pause of the last seconds, in milliseconds. */
  readonly longestMs: number;
}

/** Looks at the garbage collection of one server. */
export interface GarbageWatch {
  /** Arguments for Node that have it watched. */
  readonly node: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** What it was a moment ago. */
  read(): Promise<Garbage>;
}

/** The server writes what it sees every 200 ms. */
const SETTLE_MS = 250;

const WATCH = fileURLToPath(new URL('./servers/watch-gc.ts', import.meta.url));

let watched = 0;

export function watchGarbage({ folder }: Workshop): GarbageWatch {
  watched += 1;
  const file = join(folder, `gc-${watched}.json`);
  return {
    node: ['--import', WATCH],
    environment: { BENCH_GC_FILE: file },
    async read() {
      await sleep(SETTLE_MS);
      return JSON.parse(readFileSync(file, 'utf8'));
    },
  };
}
