import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { CLIENT_CORE, hasBothCores } from './cores.ts';
import { expectedRows, writeExpected } from './expected.ts';
import { isRowWorse, type Measured, measuredOf, type Samples } from './figures.ts';
import { has } from './process.ts';
import { comparison } from './report.ts';
import type { Scenario } from './scenario.ts';
import { EXPERIMENTS, SCENARIOS } from './scenarios.ts';
import { closeWorkshops, inWorkshop, type Pace } from './workshop.ts';

// Measures all rows, or those of the named scenarios, and compares them with bench/expected.json.

const FULL: Pace = { rounds: 4, seconds: 0.35, processes: 2 };
const QUICK: Pace = { rounds: 1, seconds: 0.35, processes: 1 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, update: { type: 'boolean', default: false } },
});
const pace = values.quick ? QUICK : FULL;
const names = [...SCENARIOS, ...EXPERIMENTS].map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
const missing = ['wrk', 'taskset'].filter((command) => !has(command));

if (unknown.length > 0) refuse(`there is no ${unknown.join(', ')}. There are ${names.join(', ')}`);
if (values.quick && values.update) refuse('--update needs a full run');
if (missing.length > 0) refuse(`needs ${missing.join(' and ')} (Debian packages wrk and util-linux)`);
if (!hasBothCores()) refuse('needs two processor cores, one for the servers and one for what sends the requests');

// This process reads access logs, which must not take from the servers' core.
spawnSync('taskset', ['-pc', CLIENT_CORE, String(process.pid)]);
process.once('SIGINT', () => void interrupt(130));
process.once('SIGTERM', () => void interrupt(143));
let isInterrupted = false;
try {
  for (const { name, run } of EXPERIMENTS) {
    if (positionals.includes(name)) print(`${await inWorkshop(pace, run)}\n`);
  }
  const scenarios = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  if (scenarios.length > 0) await compare(scenarios);
} catch (error) {
  // Whatever the interruption broke off fails; that is no finding.
  if (!isInterrupted) throw error;
}

async function compare(scenarios: readonly Scenario[]): Promise<void> {
  const expected = expectedRows();
  const rows: Record<string, Measured> = {};
  const worse = new Set<string>();
  for (const scenario of scenarios) {
    let samples = await runOnce(scenario);
    // Of 25 rows, one may be worse by chance: it is measured again, and judged by all its samples.
    if (!values.update && !values.quick && listWorse(scenario, samples).length > 0) {
      samples = merge(samples, await runOnce(scenario));
    }
    for (const name of listWorse(scenario, samples)) worse.add(name);
    Object.assign(rows, measure(scenario, samples));
  }
  print(`\n${comparison(rows, expected, worse)}`);
  if (values.update)
    writeExpected(
      rows,
      SCENARIOS.flatMap((scenario) => scenario.rows.map(({ name }) => name)),
    );
  else if (worse.size > 0 && !values.quick) {
    process.exitCode = 1;
    print(
      `\nWorse than bench/expected.json by more than both spreads:\n${[...worse].map((name) => `- ${name}\n`).join('')}`,
    );
  }

  function listWorse(scenario: Scenario, samples: ReadonlyMap<string, Samples>): string[] {
    return Object.entries(measure(scenario, samples)).flatMap(([name, row]) =>
      isRowWorse(row, expected[name]) ? [name] : [],
    );
  }
}

async function runOnce({ name, run }: Scenario): Promise<ReadonlyMap<string, Samples>> {
  const begun = performance.now();
  const samples = await inWorkshop(pace, run);
  process.stderr.write(`bench: ${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
  return samples;
}

/** The rows that have samples, with their figures. */
function measure({ rows }: Scenario, samples: ReadonlyMap<string, Samples>): Record<string, Measured> {
  return Object.fromEntries(
    rows.flatMap((row) => {
      const found = samples.get(row.name);
      return found === undefined ? [] : [[row.name, measuredOf(row, found)]];
    }),
  );
}

function merge(
  first: ReadonlyMap<string, Samples>,
  second: ReadonlyMap<string, Samples>,
): ReadonlyMap<string, Samples> {
  return new Map(
    [...first].map(([name, { values, cpu }]) => {
      const again = second.get(name);
      return [
        name,
        { values: [...values, ...(again?.values ?? [])], ...(cpu && { cpu: [...cpu, ...(again?.cpu ?? [])] }) },
      ];
    }),
  );
}

async function interrupt(code: number): Promise<void> {
  isInterrupted = true;
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
