import { cpuMs } from './cpu.ts';
import { quantile, type Row, type Samples, type Unit } from './figures.ts';
import { percent } from './report.ts';
import type { Scenario } from './scenario.ts';
import type { Server } from './server.ts';
import { inWorkshop, type Workshop } from './workshop.ts';
import { type Load, measure } from './wrk.ts';

/** A server with the requests that it is sent. */
export interface Contender {
  readonly server: Server;
  readonly load: Load;
  /** A stopped process that continues during the turns. */
  readonly beside?: Server;
}

/** What one turn of a contender showed. */
interface Turn {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Processor time, including the system's. Comparable even where another process took part of the core. */
  readonly usPerRequest: number;
  /** Share of the core that the server had, from 0 to 1. 1 where a neighbour took its part as intended. */
  readonly share: number;
}

/** A contender that is compared with another one, both by name. */
interface Pair extends Omit<Row, 'unit'> {
  readonly of: string;
  readonly to: string;
  /** @default requests a second, and processor time */
  readonly by?: 'p99' | 'cpu';
}

/** Servers that run at the same time, and take turns on the servers' core. */
export interface Opened {
  /** One that this machine does not have is `undefined`: its rows are left out. */
  readonly contenders: Readonly<Record<string, Contender | undefined>>;
  /** Rejects where the answers were not what was to be measured. */
  check?(): Promise<void>;
}

/** After so many requests, V8 has compiled what a server calls over and over; slower servers get so much time. */
const WARM_UP = { requests: 50_000, seconds: 3.5 };

/** Below this share of its core, a server was held up by something else. */
const UNDISTURBED = 0.9;

/**
 * A scenario of pairs. Contenders take short turns, so that what disturbs the machine disturbs both of a pair; every other round in
 * reverse, so that none is always first. `open` starts new processes several times, since V8 compiles a process by what it happens
 * to see first: two of equal settings have differed by a quarter.
 */
export function paired(name: string, pairs: readonly Pair[], open: (workshop: Workshop) => Promise<Opened>): Scenario {
  const unitOf = ({ by }: Pair): Unit => (by === 'p99' ? 'times' : 'ratio');
  return {
    name,
    rows: pairs.map((pair) => ({
      name: pair.name,
      unit: unitOf(pair),
      ...(pair.aim !== undefined && { aim: pair.aim }),
    })),
    async run({ pace }) {
      const rounds: ReadonlyMap<string, Turn>[] = [];
      for (let group = 0; group < pace.processes; group += 1) {
        rounds.push(...(await inWorkshop(pace, async (workshop) => takeTurns(workshop, await open(workshop)))));
      }
      warnIfDisturbed(name, rounds);
      return new Map(pairs.flatMap((pair) => samplesOf(pair, rounds)));
    },
  };
}

async function takeTurns(workshop: Workshop, { contenders, check }: Opened): Promise<ReadonlyMap<string, Turn>[]> {
  const present = Object.entries(contenders).flatMap(([name, contender]) => (contender ? [{ name, contender }] : []));
  await warmUpAll(
    workshop,
    present.map(({ contender }) => contender),
  );
  const rounds: ReadonlyMap<string, Turn>[] = [];
  for (let round = 0; round < workshop.pace.rounds; round += 1) {
    const turns = new Map<string, Turn>();
    for (const { name, contender } of round % 2 === 0 ? present : present.toReversed()) {
      turns.set(name, await takeTurn(workshop, contender));
    }
    rounds.push(turns);
  }
  await check?.();
  return rounds;
}

/** At least one turn of each. What one load of a server warmed up is not counted again for another. */
async function warmUpAll(workshop: Workshop, contenders: readonly Contender[]): Promise<void> {
  const seen = new Map<Server, { requests: number; seconds: number }>();
  for (const { server, load } of contenders) {
    const { seconds } = workshop.pace;
    const done = seen.get(server) ?? { requests: 0, seconds: 0 };
    seen.set(server, done);
    do {
      done.requests += (await measure(workshop, seconds, load)).requests;
      done.seconds += seconds;
    } while (done.requests < WARM_UP.requests && done.seconds < WARM_UP.seconds);
  }
}

export async function takeTurn(workshop: Workshop, { server, load, beside }: Contender): Promise<Turn> {
  const before = cpuMs(server.pid);
  beside?.child.kill('SIGCONT');
  const { requests, ...seen } = await measure(workshop, workshop.pace.seconds, load);
  beside?.child.kill('SIGSTOP');
  const usedUs = (cpuMs(server.pid) - before) * 1000;
  const usPerRequest = usedUs / requests;
  const share = beside ? 1 : (usPerRequest * seen.requestsPerSecond) / 1e6;
  return { ...seen, usPerRequest, share };
}

/** By the medians of each contender, so that a short disturbance is not reported. */
function warnIfDisturbed(name: string, rounds: readonly ReadonlyMap<string, Turn>[]): void {
  const names = [...(rounds[0]?.keys() ?? [])];
  const shareOf = (contender: string) =>
    quantile(
      rounds.map((turns) => turns.get(contender)?.share ?? 0),
      0.5,
    );
  const disturbed = names.filter((contender) => shareOf(contender) < UNDISTURBED);
  if (disturbed.length === 0) return;
  const shares = disturbed.map((contender) => `${contender} ${percent(shareOf(contender))}`).join(', ');
  process.stderr.write(
    `bench: ${name}: not all servers had their core to themselves (${shares}): compare CPU time only\n`,
  );
}

function samplesOf({ name, of, to, by }: Pair, rounds: readonly ReadonlyMap<string, Turn>[]): [string, Samples][] {
  const both = rounds.flatMap((turns) => {
    const [subject, reference] = [turns.get(of), turns.get(to)];
    return subject && reference ? [{ subject, reference }] : [];
  });
  if (both.length === 0) return [];
  if (by === 'p99') return [[name, { values: both.map(({ subject, reference }) => subject.p99Ms / reference.p99Ms) }]];
  const cpu = both.map(({ subject, reference }) => reference.usPerRequest / subject.usPerRequest);
  if (by === 'cpu') return [[name, { values: cpu }]];
  const values = both.map(({ subject, reference }) => subject.requestsPerSecond / reference.requestsPerSecond);
  return [[name, { values, cpu }]];
}
