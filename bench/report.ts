/** The middle one; of an even number, the upper of the two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The smallest value that this share of all is below, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A table in Markdown, for a terminal or a page. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** Share of a whole. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
