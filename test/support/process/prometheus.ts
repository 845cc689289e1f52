import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../listening.ts';
import { startProcess } from './process.ts';

interface PrometheusOptions {
  /** Holds its settings and what it keeps. */
  readonly folder: string;
  /** Base URL of the admin listener that it scrapes. */
  readonly adminUrl: string;
  /** Files of rules. @default none */
  readonly rules?: readonly string[];
  /** How often it scrapes and looks at its rules. */
  readonly everySeconds: number;
}

/** A Prometheus that scrapes one gateway as the job `portico`. It ends with its test. */
export async function startPrometheus(options: PrometheusOptions) {
  const { folder, adminUrl, rules = [], everySeconds } = options;
  const port = await freePort();
  const every = `${everySeconds}s`;
  const config = {
    global: { scrape_interval: every, evaluation_interval: every },
    rule_files: rules,
    scrape_configs: [{ job_name: 'portico', static_configs: [{ targets: [new URL(adminUrl).host] }] }],
  };
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, JSON.stringify(config));
  const running = startProcess('prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);

  /** `data` of what its API answers; `undefined` where it answers nothing, or something is wrong. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
  async function ask(path: string): Promise<any> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined);
    return response?.ok === true ? Object(await response.json()).data : undefined;
  }

  return {
    ...running,
    ask,
    /** The first value of a query; `undefined` where there is none. */
    async answerTo(query: string): Promise<number | undefined> {
      const [first] = (await ask(`query?query=${encodeURIComponent(query)}`))?.result ?? [];
      return first && Number(first.value[1]);
    },
  };
}
