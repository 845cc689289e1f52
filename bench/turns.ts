import { cpuMs } from './cpu.ts';
import { median } from './report.ts';
import type { Server } from './server.ts';
import type { Workshop } from './workshop.ts';
import { type Load, measure } from './wrk.ts';

/** One of the servers that are compared. */
export interface Contender {
  /** Those of the same name are processes of the same program and settings. */
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
}

/** Medians over the rounds, and over the processes of one name. */
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
  const runs = new Map(contenders.map(({ name }): [string, Omit<Standing, 'name'>[]] => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, server, load } of contenders) {
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
        runs.get(name)?.push({ ...seen, busy, usPerRequest, gcShare, gcLongestMs: gc?.longestMs ?? Number.NaN });
    }
  }
  return [...runs].map(([name, seen]) => {
    const of = (key: keyof Omit<Standing, 'name'>) => median(seen.map((run) => run[key]));
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

/** V8 compiles a process by what it happens to see first: two with the same settings have differed by a quarter. */
const PROCESSES = 3;

/** Opens several processes of each form of one program, where two forms may differ by less than two processes do. */
export async function openSeveral<F extends { readonly name: string }>(
  forms: readonly F[],
  open: (form: F) => Promise<Omit<Contender, 'name'>>,
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (let process = 0; process < PROCESSES; process += 1) {
    for (const form of forms) contenders.push({ name: form.name, ...(await open(form)) });
  }
  return contenders;
}
