import { serveBare } from '../bare.ts';
import { openCaches } from '../caches.ts';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { READ } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';

/** Hits only: every caller has read before. */
export const cached: Scenario = {
  name: 'cached',
  title: 'The cached read',
  async run(workshop) {
    const client = createClient();
    const { portico, nginx, checkHits } = await openCaches(workshop, client);
    const server = await serveBare(workshop, SERVER_CORE);
    const url = `${server.url}${READ}tools`;
    const bare = { name: 'bare `node:http`', server, url, reply: await client.read(url, 'anybody') };
    const servers = [portico, bare, ...(nginx === undefined ? [] : [nginx])];
    for (const { name, reply } of servers) {
      if (!reply.body.equals(bare.reply.body)) throw new Error(`${name} sends other bytes than ${bare.name}`);
    }
    const found = standings(
      await takeTurns(
        workshop,
        servers.map(({ name, server, url }) => ({ name, server, load: { url } })),
      ),
    );
    await checkHits();
    client.close();
    return found;
  },
};
