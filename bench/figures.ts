/** How a figure is read. Of a ratio, more is better; of all others, less. */
export type Unit = 'ratio' | 'times' | 'ms' | 'MB' | 'round trips';

/** One line of the table: what is measured, and the aim where there is one. */
export interface Row {
  readonly name: string;
  readonly unit: Unit;
  readonly aim?: number;
}

/** What was measured of a row: one value per pair of turns or per trial. `cpu`: the same ratio by processor time. */
export interface Samples {
  readonly values: readonly number[];
  readonly cpu?: readonly number[];
}

/** Median and spread of the values. */
export interface Figure {
  readonly value: number;
  readonly spread: number;
}

/** A row with its figures, as `expected.json` holds it. */
export interface Measured extends Omit<Row, 'name'> {
  readonly figure: Figure;
  readonly cpu?: Figure;
}

/** A spread is never smaller than this share of the median: two runs of few samples may agree by chance. */
const MIN_SPREAD = 0.03;

/** The median of the values and, as their spread, half the distance between their 10th and 90th percentiles. */
export function figureOf(values: readonly number[]): Figure {
  const value = quantile(values, 0.5);
  const spread = (quantile(values, 0.9) - quantile(values, 0.1)) / 2;
  return { value: round(value), spread: round(Math.max(spread, MIN_SPREAD * value)) };
}

export function measuredOf({ unit, aim }: Row, { values, cpu }: Samples): Measured {
  return {
    unit,
    ...(aim !== undefined && { aim }),
    figure: figureOf(values),
    ...(cpu !== undefined && { cpu: figureOf(cpu) }),
  };
}

/** Whether a figure is worse than the expected one by more than both spreads. */
export function isWorse(unit: Unit, now: Figure, expected: Figure): boolean {
  const worseBy = unit === 'ratio' ? expected.value - now.value : now.value - expected.value;
  // What is not a number was not measured, which is no success.
  return !(worseBy <= now.spread + expected.spread);
}

/** Compares a row with what is expected of it, by requests and by processor time. A row without an expectation is not worse. */
export function isRowWorse(now: Measured, expected: Measured | undefined): boolean {
  if (expected === undefined) return false;
  const cpu = now.cpu && expected.cpu ? isWorse(now.unit, now.cpu, expected.cpu) : false;
  return cpu || isWorse(now.unit, now.figure, expected.figure);
}

/** Whether a row meets its aim, by requests and by processor time; `undefined` without an aim. */
export function meetsAim({ unit, aim, figure, cpu = figure }: Measured): boolean | undefined {
  if (aim === undefined) return undefined;
  return unit === 'ratio' ? Math.min(figure.value, cpu.value) >= aim : figure.value <= aim;
}

/** Three significant digits; whole numbers stay whole. */
function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** The smallest value that this share of all is below, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
