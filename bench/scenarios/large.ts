import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../client.ts';
import { paced } from '../paced.ts';
import { pagedProjects, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { quantile, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { measure } from '../wrk.ts';

const ITEMS = 100_000;
const PAGE = 1000;
const EVERY_MS = 4;
const SECONDS = 20;

/** What a caller who reads from cache feels of another one whose list is a thousand times as long. */
export const large: Scenario = {
  name: 'large',
  title: 'A read of 100,000 items, and who else reads meanwhile',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop, 0, ITEMS);
    const { url } = await servePortico(workshop, platform.url, {
      settings: { resources: { projects: pagedProjects(PAGE) } },
    });
    const seconds = workshop.pace.rounds > 1 ? SECONDS : SECONDS / 4;
    const readTools = async () => {
      const { status } = await client.read(`${url}${READ}tools`, 'small');
      if (status !== 200) throw new Error(`Portico answered ${status}`);
    };
    const load = { url: `${url}${READ}projects`, callers: 1, connections: 1 };
    await paced(EVERY_MS, measure(workshop, Math.ceil(seconds / 4), load), readTools); // warms up
    const alone = await paced(EVERY_MS, sleep(seconds * 1000), readTools);
    const whole = measure(workshop, seconds, load);
    const beside = await paced(EVERY_MS, whole, readTools);
    const { requestsPerSecond } = await whole;
    client.close();
    const row = (name: string, times: readonly number[]) => [
      name,
      ...[0.5, 0.99, 1].map((share) => `${quantile(times, share).toFixed(1)} ms`),
    ];
    const found = table(
      [`A read from cache every ${EVERY_MS} ms`, 'Median', 'p99', 'Slowest'],
      [row('alone', alone), row(`beside reads of ${ITEMS} items`, beside)],
    );
    return `${found}\nThe large read took ${(1 / requestsPerSecond).toFixed(1)} s on average.\n`;
  },
};
