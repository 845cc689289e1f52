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

type Run = Omit<Standing, 'name'>;
type Runs = Map<string, Run[]>;

/** Loads the servers in turn, round after round, so that what disturbs the machine disturbs all of them. */
export async function takeTurns(workshop: Workshop, contenders: readonly Contender[]): Promise<Standing[]> {
  const runs: Runs = new Map();
  await load(workshop, contenders, workshop.pace.rounds, runs);
  return standingsOf(runs);
}

/** Forms of one program that may differ by less than two of its processes do. */
export interface Forms<F> {
  readonly forms: readonly F[];
  /** Starts a process of this form, and warms it up. */
  open(form: F): Promise<Omit<Contender, 'name'>>;
  /** Called when the load begins, and when it has ended. @default nothing is called */
  readonly loaded?: (isLoaded: boolean) => void;
}

/**
 * Loads several processes of each form, since V8 compiles a process by what it happens to see first: two with the same settings
 * have differed by a quarter. One of each at a time, since those that wait take from the others with their timers; and half
 * the rounds for each, since two runs of one process differ least.
 */
export async function takeTurnsAs<F extends { readonly name: string }>(
  workshop: Workshop,
  { forms, open, loaded }: Forms<F>,
): Promise<Standing[]> {
  const runs: Runs = new Map();
  for (let process = 0; process < workshop.pace.processes; process += 1) {
    const contenders: Contender[] = [];
    for (const form of forms) contenders.push({ name: form.name, ...(await open(form)) });
    loaded?.(true);
    await load(workshop, contenders, Math.ceil(workshop.pace.rounds / 2), runs);
    loaded?.(false);
    for (const { server } of contenders) await server.stop();
  }
  return standingsOf(runs);
}

/** Every other round the other way about, so that none is always behind the same one. */
async function load(workshop: Workshop, contenders: readonly Contender[], rounds: number, runs: Runs): Promise<void> {
  for (const { name } of contenders) if (!runs.has(name)) runs.set(name, []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const run = await loadOnce(workshop, contender);
      // The first is to warm up.
      if (round > 0) runs.get(contender.name)?.push(run);
    }
  }
}

async function loadOnce(workshop: Workshop, { server, load }: Contender): Promise<Run> {
  const gcBefore = await server.garbage?.read();
  const begun = performance.now();
  const usedBefore = cpuMs(server.pid);
  const seen = await measure(workshop, workshop.pace.seconds, load);
  const wallMs = performance.now() - begun;
  const busy = (cpuMs(server.pid) - usedBefore) / wallMs;
  const gc = await server.garbage?.read();
  const gcShare = gc && gcBefore ? (gc.totalMs - gcBefore.totalMs) / wallMs : Number.NaN;
  const usPerRequest = (busy / seen.requestsPerSecond) * 1e6;
  return { ...seen, busy, usPerRequest, gcShare, gcLongestMs: gc?.longestMs ?? Number.NaN };
}

function standingsOf(runs: Runs): Standing[] {
  return [...runs].map(([name, seen]) => {
    const of = (key: keyof Run) => median(seen.map((run) => run[key]));
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
