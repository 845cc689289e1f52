import { createClient } from '../client.ts';
import { countRequests, pagedProjects, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { median, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const PAGES = 50;
const SIZE = 100;
const DELAY_MS = 20;
const READS = 20;

/** A list of many pages whose total is known, on a platform that is far away; beside one page of it. */
export const pages: Scenario = {
  name: 'pages',
  title: 'A read of 50 pages',
  async run(workshop) {
    const rows: string[][] = [];
    for (const count of [1, PAGES]) {
      const client = createClient();
      const platform = await servePlatform(workshop, DELAY_MS, count * SIZE);
      const settings = { resources: { projects: pagedProjects(SIZE) } };
      const { url } = await servePortico(workshop, platform.url, { settings });
      const times: number[] = [];
      for (let read = 0; read < 2 * READS; read += 1) {
        const begun = performance.now();
        const { status, body } = await client.read(`${url}${READ}projects`, 'bench');
        // The first half warms up.
        if (read >= READS) times.push(performance.now() - begun);
        if (status !== 200) throw new Error(`Portico answered ${status}: ${body}`);
      }
      const asked = await countRequests(platform, client);
      if (asked !== 2 * READS * count) throw new Error(`${asked} pages were asked for`);
      client.close();
      const ms = median(times);
      rows.push([String(count), `${ms.toFixed(1)} ms`, (ms / DELAY_MS).toFixed(1)]);
    }
    return table(['Pages', 'Time', `In round trips of ${DELAY_MS} ms`], rows);
  },
};
