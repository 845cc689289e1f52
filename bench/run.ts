import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { build, CLIENTS, has, ours } from './rig.ts';
import { type Pace, type Row, type Samples, SCENARIOS } from './rows.ts';

// Measures all rows, or those of the named scenarios, and compares them with bench/expected.json.

/** Median, and half the distance between the 10th and the 90th percentile, at least 3 %: few samples may agree by chance. */
type Figure = readonly [value: number, spread: number];
type Figures = Readonly<Record<string, Figure>>;

const FILE = ours('bench/expected.json');
const PAGE = ours('docs/performance.md');
const MARKERS = /(?<=<!-- bench\/expected\.json -->\n)[\s\S]*(?=<!-- end -->)/;
const PACE: Pace = { rounds: 4, seconds: 0.35, processes: 2 };
const ROWS: Readonly<Record<string, Row>> = Object.assign({}, ...Object.values(SCENARIOS).map(({ rows }) => rows));

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { update: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => SCENARIOS[name] === undefined);
const missing = ['wrk', 'taskset'].filter((command) => !has(command));
if (unknown.length > 0) refuse(`there is no ${unknown.join(', ')}. There are ${Object.keys(SCENARIOS).join(', ')}`);
if (missing.length > 0) refuse(`needs ${missing.join(' and ')} (Debian packages wrk and util-linux)`);
if (availableParallelism() < 2) refuse('needs two processor cores: for the servers, and for what sends the requests');

// This process reads the servers' logs, which must not take from their core.
spawnSync('taskset', ['-pc', CLIENTS, String(process.pid)]);
build();
const expected: { readonly rows: Figures } = JSON.parse(readFileSync(FILE, 'utf8'));
const figures: Record<string, Figure> = {};
const worse: string[] = [];
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const begun = performance.now();
  let samples = await scenario.measure(PACE);
  // One row may be worse by chance: it is measured again, and judged by all its samples.
  if (!options.update && worseIn(samples).length > 0) {
    const again = await scenario.measure(PACE);
    samples = Object.fromEntries(Object.entries(samples).map(([row, all]) => [row, [...all, ...(again[row] ?? [])]]));
  }
  for (const [row, all] of Object.entries(samples)) figures[row] = figureOf(all);
  worse.push(...worseIn(samples));
  process.stderr.write(`bench: ${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
}
process.stdout.write(`\n${table(figures)}`);
if (options.update) update();
else if (worse.length > 0) {
  process.exitCode = 1;
  process.stdout.write(`\nWorse than bench/expected.json by more than both spreads: ${worse.join(', ')}\n`);
}

function figureOf(samples: readonly number[]): Figure {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const value = at(0.5);
  const round = (figure: number) => (figure >= 100 ? Math.round(figure) : Number(figure.toPrecision(3)));
  return [round(value), round(Math.max((at(0.9) - at(0.1)) / 2, 0.03 * value))];
}

function worseIn(samples: Samples): string[] {
  return Object.entries(samples).flatMap(([row, all]) => {
    const [now, spread] = figureOf(all);
    const [before, spreadBefore] = expected.rows[row] ?? [now, spread];
    const by = ROWS[row]?.unit === 'ratio' ? before - now : now - before;
    // What is not a number was not measured, which is no success.
    return by <= spread + spreadBefore ? [] : [row];
  });
}

function table(rows: Figures): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const head = ['Row', 'Figure', 'Aim'];
  const lines = Object.entries(rows).map(([row, [value, spread]]) => {
    const { aim, unit } = ROWS[row] ?? { unit: 'ratio' };
    const isMet = aim === undefined || (unit === 'ratio' ? value >= aim : value <= aim);
    const goal = aim === undefined ? '' : `${unit === 'ratio' ? '≥' : '≤'} ${aim}: ${isMet ? 'met' : 'missed'}`;
    return line([row, `${value} ± ${spread}${unit === 'ratio' ? '' : ` ${unit}`}`, goal]);
  });
  return line(head) + line(head.map(() => '---')) + lines.join('');
}

/** Replaces the expected figures of the measured rows, and the table of `docs/performance.md`. */
function update(): void {
  const date = new Date().toISOString().slice(0, 10);
  const measured = `Measured on ${date} with Node ${process.versions.node}, on two cores of ${cpus()[0]?.model.trim()}.`;
  const all: Figures = { ...expected.rows, ...figures };
  const rows = Object.fromEntries(
    Object.keys(ROWS).flatMap((row) => (all[row] === undefined ? [] : [[row, all[row]]])),
  );
  // Each figure in a line of its own, as the formatter has it.
  const json = JSON.stringify({ measured, rows }, undefined, 2).replace(/\[\s+([\d.]+),\s+([\d.]+)\s+\]/g, '[$1, $2]');
  writeFileSync(FILE, `${json}\n`);
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(MARKERS, () => `\n${measured}\n\n${table(rows)}\n`),
  );
}

function refuse(why: string): never {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(1);
}
