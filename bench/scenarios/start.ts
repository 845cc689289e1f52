import { createClient } from '../client.ts';
import { servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { inWorkshop, type Workshop } from '../workshop.ts';

const STARTS = 8;
const PACKAGE = { name: 'start to ready', unit: 'ms', aim: 300 } as const;
const IMAGE = { name: 'start to ready, with the compile cache of the image', unit: 'ms', aim: 300 } as const;

/** From the start of the process to the first 200 of `/readyz`, as npm installs it and as the image holds it, alternately. */
export const start: Scenario = {
  name: 'start',
  rows: [PACKAGE, IMAGE],
  async run(workshop) {
    const ways = [
      { row: PACKAGE, environment: {}, values: [] as number[] },
      { row: IMAGE, environment: { NODE_COMPILE_CACHE: workshop.folder }, values: [] as number[] },
    ];
    // The first round brings the files into memory, and compiles them for those that follow.
    for (let round = 0; round <= STARTS; round += 1) {
      for (const { environment, values } of ways) {
        const ms = await inWorkshop(workshop.pace, (own) => startOnce(own, environment));
        if (round > 0) values.push(ms);
      }
    }
    return new Map(ways.map(({ row, values }) => [row.name, { values }]));
  },
};

/** In milliseconds. No platform is requested before a caller reads. */
async function startOnce(workshop: Workshop, environment: Readonly<Record<string, string>>): Promise<number> {
  const client = createClient();
  const { url, startedAt } = await servePortico(workshop, 'http://127.0.0.1:9', { environment });
  const { status } = await client.read(`${url}/readyz`, 'bench');
  const ms = performance.now() - startedAt;
  client.close();
  if (status !== 200) throw new Error(`/readyz answered ${status}`);
  return ms;
}
