import { serveBare } from '../bare.ts';
import { type Client, createClient, each } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { median, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const CROWD = 1000;

/** How long the platform takes to answer, so that the whole crowd is there before it has. */
const DELAY_MS = 100;

/** One caller's first read, a thousand times at once: one load must do for all. */
export const crowd: Scenario = {
  name: 'crowd',
  title: 'A thousand first reads of one caller at once',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop, DELAY_MS);
    const portico = await servePortico(workshop, platform.url);
    const bare = await serveBare(workshop, SERVER_CORE);
    const times: Record<'portico' | 'bare', number[]> = { portico: [], bare: [] };
    const loads: number[] = [];
    for (let round = 0; round <= workshop.pace.rounds; round += 1) {
      const before = await countRequests(platform, client);
      const waited = await gather(client, `${portico.url}${READ}tools`, `crowd-${round}`);
      const alone = await gather(client, `${bare.url}${READ}tools`, `crowd-${round}`);
      if (round === 0) continue; // it opens the connections
      loads.push((await countRequests(platform, client)) - before);
      times.portico.push(waited);
      times.bare.push(alone);
    }
    client.close();
    return table(
      ['Server', 'Requests to the platform', 'All answered after'],
      [
        [
          `Portico; the platform takes ${DELAY_MS} ms`,
          `${Math.max(...loads)}`,
          `${median(times.portico).toFixed(0)} ms`,
        ],
        ['bare `node:http`', '', `${median(times.bare).toFixed(0)} ms`],
      ],
    );
  },
};

/** Time until the last one has its answer, in milliseconds. */
async function gather(client: Client, url: string, token: string): Promise<number> {
  const begun = performance.now();
  await each(CROWD, CROWD, async () => {
    const { status } = await client.read(url, token);
    if (status !== 200) throw new Error(`${url} answered ${status}`);
  });
  return performance.now() - begun;
}
