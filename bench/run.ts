import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { CLIENT_CORE, hasBothCores } from './cores.ts';
import { has } from './process.ts';
import { SCENARIOS } from './scenarios.ts';
import { closeWorkshops, inWorkshop, type Pace } from './workshop.ts';

// Only the ratios within one run mean anything: absolute figures belong to the machine.

const PACES = { full: { rounds: 6, seconds: 2, processes: 8 }, quick: { rounds: 1, seconds: 1, processes: 1 } };

const { values, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
const pace = values.quick === true ? PACES.quick : PACES.full;
const unknown = positionals.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
const missing = ['wrk', 'taskset'].filter((command) => !has(command));

if (unknown.length > 0) {
  const names = SCENARIOS.map(({ name }) => name).join(', ');
  refuse(`there is no ${unknown.join(', ')}. There are ${names}; --quick tries them out.`);
}
if (missing.length > 0) refuse(`needs ${missing.join(' and ')} (Debian packages wrk and util-linux)`);
if (!hasBothCores()) refuse('needs two processor cores, one for the servers and one for what asks them');

// This process reads access logs, which must not take from the servers' core.
spawnSync('taskset', ['-pc', String(CLIENT_CORE), String(process.pid)]);
process.once('SIGINT', () => void interrupt(130));
process.once('SIGTERM', () => void interrupt(143));
let interrupted = false;
try {
  await measureAll(pace);
} catch (error) {
  // What an interruption breaks off has nothing to tell.
  if (!interrupted) throw error;
}

async function measureAll(at: Pace): Promise<void> {
  const { rounds, seconds, processes } = at;
  print(
    `Node ${process.versions.node}; servers in turn for ${seconds} s, medians of ${rounds} rounds; of forms of one program, ${processes} processes each\n`,
  );
  for (const { name, title, run } of SCENARIOS) {
    if (interrupted || (positionals.length > 0 && !positionals.includes(name))) continue;
    print(`\n## ${title} (${name})\n\n${await inWorkshop(at, run)}`);
  }
}

async function interrupt(code: number): Promise<void> {
  interrupted = true;
  process.exitCode = code;
  await closeWorkshops();
}

function print(text: string): void {
  process.stdout.write(text);
}

function refuse(why: string): never {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(1);
}
