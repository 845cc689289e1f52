import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Measured } from './figures.ts';
import { figureTable } from './report.ts';
import { ours } from './server.ts';

/** Figures that a run is compared with, and what they were measured on. */
interface Expected {
  readonly measured: string;
  readonly rows: Readonly<Record<string, Measured>>;
}

const FILE = ours('bench/expected.json');
const PAGE = ours('docs/performance.md');

/** What the table is between in `docs/performance.md`. */
const MARKERS = /(?<=<!-- bench\/expected\.json -->\n)[\s\S]*(?=<!-- end -->)/;

export function expectedRows(): Expected['rows'] {
  return readExpected().rows;
}

export function readExpected(): Expected {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** The part of `docs/performance.md` that follows from the expected figures. */
export function expectedText({ measured, rows }: Expected): string {
  return `\n${measured}\n\n${figureTable(rows)}\n`;
}

/** The same part as the page has it. */
export function writtenText(): string | undefined {
  return MARKERS.exec(readFileSync(PAGE, 'utf8'))?.[0];
}

/** Replaces the expected figures of these rows, and the table of `docs/performance.md`. Rows that are not in `order` are removed. */
export function writeExpected(rows: Expected['rows'], order: readonly string[]): void {
  const date = new Date().toISOString().slice(0, 10);
  const measured = `Measured on ${date} with Node ${process.versions.node}, on two cores of ${cpus()[0]?.model.trim()}.`;
  const all = { ...expectedRows(), ...rows };
  const known = order.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  const expected = { measured, rows: Object.fromEntries(known) };
  writeFileSync(FILE, `${JSON.stringify(expected, undefined, 2)}\n`);
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8').replace(MARKERS, () => expectedText(expected)),
  );
}
