import { createClient } from '../client.ts';
import { countRequests, pagedProjects, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';

const PAGES = 50;
const SIZE = 100;
const DELAY_MS = 20;
const READS = 20;
const ROW = { name: `${PAGES} pages with a known total`, unit: 'round trips', aim: 4 } as const;

/** A list of many pages whose total is known, on a platform that is far away. */
export const pages: Scenario = {
  name: 'pages',
  rows: [ROW],
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop, { delayMs: DELAY_MS, projects: PAGES * SIZE });
    const settings = { resources: { projects: pagedProjects(SIZE) } };
    const { url } = await servePortico(workshop, platform.url, { settings });
    const values: number[] = [];
    for (let read = 0; read < 2 * READS; read += 1) {
      const begun = performance.now();
      const { status, body } = await client.read(`${url}${READ}projects`, 'bench');
      // The first half warms up.
      if (read >= READS) values.push((performance.now() - begun) / DELAY_MS);
      if (status !== 200) throw new Error(`Portico answered ${status}: ${body}`);
    }
    const asked = await countRequests(platform, client);
    client.close();
    if (asked !== 2 * READS * PAGES) throw new Error(`the platform received ${asked} requests`);
    return new Map([[ROW.name, { values }]]);
  },
};
