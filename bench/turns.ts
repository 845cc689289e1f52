import { cpuMs } from './cpu.ts';
import { median } from './report.ts';
import type { Server } from './server.ts';
import type { Workshop } from './workshop.ts';
import { type Load, measure } from './wrk.ts';

/** One of the servers that are compared. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
}

/** Medians over the rounds. */
export interface Standing {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** How much of its core the server had, from 0 to 1. Well below 1, something else was the narrow place. */
  readonly busy: number;
  /** Processor time, the system's work for it included. Says most where something else has taken from the core. */
  readonly usPerRequest: number;
  /** Longest pause for collecting garbage; NaN where there is none to see. */
  readonly gcLongestMs: number;
  /** Share of the time that went into such pauses. */
  readonly gcShare: number;
}

/** Loads the servers in turn, round after round, so that what disturbs the machine disturbs all of them. */
export async function takeTurns(workshop: Workshop, contenders: readonly Contender[]): Promise<Standing[]> {
  const { rounds, seconds } = workshop.pace;
  const runs = contenders.map((): Omit<Standing, 'name'>[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { server, load }] of contenders.entries()) {
      const gcBefore = await server.garbage?.read();
      const begun = performance.now();
      const usedBefore = cpuMs(server.pid);
      const seen = await measure(workshop, seconds, load);
      const wallMs = performance.now() - begun;
      const busy = (cpuMs(server.pid) - usedBefore) / wallMs;
      const gc = await server.garbage?.read();
      const gcShare = gc && gcBefore ? (gc.totalMs - gcBefore.totalMs) / wallMs : Number.NaN;
      const usPerRequest = (busy / seen.requestsPerSecond) * 1e6;
      if (round > 0)
        runs[index]?.push({ ...seen, busy, usPerRequest, gcShare, gcLongestMs: gc?.longestMs ?? Number.NaN });
    }
  }
  return contenders.map(({ name }, index) => {
    const of = (key: keyof Omit<Standing, 'name'>) => median((runs[index] ?? []).map((run) => run[key]));
    return {
      name,
      requestsPerSecond: of('requestsPerSecond'),
      p99Ms: of('p99Ms'),
      busy: of('busy'),
      usPerRequest: of('usPerRequest'),
      gcLongestMs: of('gcLongestMs'),
      gcShare: of('gcShare'),
    };
  });
}
