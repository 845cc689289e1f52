import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { inFolder } from '../../support/process/process.ts';
import { runTool } from '../../support/tools.ts';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url));

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

export function shippedAlerts(): readonly AlertRule[] {
  return parse(readFileSync(RULES, 'utf8')).groups[0].rules;
}

/** Names of all metrics in the rules. Others need not be recorded. */
const USED = new Set(shippedAlerts().flatMap(({ expr }) => expr.match(/\b[a-z][a-z0-9]*_\w+\b/g) ?? []));

/** Series by their names and labels, with a value for each scrape. `_`: no value. */
type Series = Map<string, string[]>;

export interface RecordOptions {
  /** Base URL of the admin listener that is scraped. */
  readonly adminUrl: string;
  readonly everyMs: number;
  /** Number of scrapes without the fault, and with it. */
  readonly quiet: number;
  readonly faulty: number;
  /** Whether the process is scraped during the fault. @default true */
  readonly isScraped?: boolean | undefined;
  provoke(): unknown;
}

/** Scrapes a process as Prometheus does, with `up`, before and during a fault. */
export async function record(options: RecordOptions): Promise<Series> {
  const { adminUrl, everyMs, quiet, faulty, isScraped = true, provoke } = options;
  const series: Series = new Map();
  const begun = performance.now();
  const epoch = Date.now() / 1000;
  let next = 0;
  let provoked: unknown;
  while (next < quiet + faulty) {
    if (next >= quiet) provoked ??= provoke() ?? true;
    await sleep(Math.max(0, begun + next * everyMs - performance.now()));
    // A scrape that is late counts for its time, not for its turn.
    const index = Math.max(next, Math.round((performance.now() - begun) / everyMs));
    const found = next < quiet || isScraped ? await scrape(adminUrl, epoch) : [];
    for (const [name, value] of found) {
      const values = series.get(name) ?? [];
      while (values.length < index) values.push('_');
      series.set(name, [...values, value]);
    }
    next = index + 1;
  }
  await provoked;
  return series;
}

/** `begun`: start of the recording, which is time 0 of promtool; in seconds since the epoch. */
async function scrape(adminUrl: string, begun: number): Promise<[name: string, value: string][]> {
  const signal = AbortSignal.timeout(5000);
  const text = await fetch(`${adminUrl}/metrics`, { signal }).then(
    (response) => response.text(),
    () => undefined,
  );
  if (text === undefined) return [['up{job="portico",instance="a"}', '0']];
  const found = text.split('\n').flatMap((line): [string, string][] => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!USED.has(name)) return [];
    const time = name.endsWith('_timestamp_seconds') ? String(Number(value) - begun) : value;
    return [[`${name}{job="portico",instance="a"${labels && `,${labels}`}}`, time]];
  });
  return [['up{job="portico",instance="a"}', '1'], ...found];
}

export interface Judged {
  /** How much time of the rules passes between two scrapes, in seconds. */
  readonly stretchedSeconds: number;
  /** Number of scrapes without the fault, and of all. */
  readonly quiet: number;
  readonly length: number;
  /** Alerts that fire until the last scrape, and no others at any time. */
  readonly fires: readonly string[];
}

/** Runs `promtool test rules` with recorded series, stretched in time. Rejects with its output if other alerts fire. */
export async function judge(series: Series, { stretchedSeconds, quiet, length, fires }: Judged): Promise<void> {
  const at = (scrapes: number) => `${(scrapes - 1) * stretchedSeconds}s`;
  const samples = fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
  const firing = (expr: string, scrapes: number, exp_samples: readonly object[]) => ({
    ...{ expr: `group by (alertname) (${expr})`, eval_time: at(scrapes), exp_samples },
  });
  const test = {
    interval: `${stretchedSeconds}s`,
    input_series: [...series].map(([name, values]) => ({ series: name, values: values.join(' ') })),
    promql_expr_test: [
      firing('ALERTS{alertstate="firing"}', quiet, []),
      firing('ALERTS{alertstate="firing"}', length, samples),
      firing('max_over_time(ALERTS{alertstate="firing"}[1d])', length, samples),
    ],
  };
  await inFolder(async (folder) => {
    const file = join(folder, 'recorded.yaml');
    await writeFile(
      file,
      JSON.stringify({ rule_files: [RULES], evaluation_interval: `${stretchedSeconds}s`, tests: [test] }),
    );
    await runTool('promtool', ['test', 'rules', file], folder);
  });
}
