import { type Figure, type Measured, meetsAim } from './figures.ts';

/** A table in Markdown, for a terminal or a page. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** Share of a whole. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

const HEAD = ['Row', 'Figure', 'By CPU time', 'Aim'];

/** The table of `docs/performance.md`. */
export function figureTable(rows: Readonly<Record<string, Measured>>): string {
  return table(HEAD, Object.entries(rows).map(cells));
}

/** The table of a run: each figure with the expected one in parentheses. */
export function comparison(
  rows: Readonly<Record<string, Measured>>,
  expected: Readonly<Record<string, Measured>>,
  worse: ReadonlySet<string>,
): string {
  const lines = Object.entries(rows).map(([name, measured]) => {
    const before = expected[name];
    const was = [before?.figure, before?.cpu].map((figure) => (figure === undefined ? '' : text(figure, measured)));
    const verdict = worse.has(name) ? 'worse' : before === undefined ? 'new' : 'as expected';
    const [row = '', figure = '', cpu = '', aim = ''] = cells([name, measured]);
    return [row, figure, was[0] ?? '', cpu, was[1] ?? '', aim, verdict];
  });
  return table(['Row', 'Figure', 'expected', 'By CPU time', 'expected', 'Aim', 'Verdict'], lines);
}

function cells([name, measured]: readonly [string, Measured]): string[] {
  const { figure, cpu, aim, unit } = measured;
  const sign = unit === 'ratio' ? '≥' : '≤';
  return [
    name,
    text(figure, measured),
    cpu === undefined ? '' : text(cpu, measured),
    aim === undefined ? '' : `${sign} ${aim}${suffix(measured)}: ${meetsAim(measured) ? 'met' : 'missed'}`,
  ];
}

function text({ value, spread }: Figure, measured: Measured): string {
  return `${value} ± ${spread}${suffix(measured)}`;
}

function suffix({ unit }: Measured): string {
  return unit === 'ratio' || unit === 'times' ? '' : ` ${unit}`;
}
