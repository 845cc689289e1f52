/** What a scraper reads out of an exposition. */
export interface Scraped {
  /** Metrics by name, with their type and help, in their order. */
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  /** Values by series, spelled as they came: `name{label="value"}`. */
  readonly series: ReadonlyMap<string, number>;
}

/** Prometheus takes a label without a value for an absent one. */
function withoutEmptyLabels(series: string): string {
  return series.replaceAll(/(?<=[{,])[a-z_]+="",?/g, '').replace(/,(?=\}$)|\{\}$/, '');
}

const SERIES = /^([a-z_0-9]+(?:\{.*\})?) (\S+)$/;

/** Reads the text formats of Prometheus; throws at a line that is none. */
export function parseExposition(text: string): Scraped {
  const families = new Map<string, { type: string; help: string }>();
  const series = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') families.set(name, { type: '', help: rest });
    else if (keyword === 'TYPE') families.set(name, { help: '', ...families.get(name), type: rest });
    else if (line !== '' && line !== '# EOF') readSeries(line);
  }
  return { families, series };

  function readSeries(line: string): void {
    const [, name, value] = SERIES.exec(line) ?? [];
    if (name === undefined) throw new Error(`no line of an exposition: ${line}`);
    series.set(withoutEmptyLabels(name), Number(value));
  }
}
