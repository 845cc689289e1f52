import { serveBare } from '../bare.ts';
import { openCaches } from '../caches.ts';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { READ } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';
import { tokenOf } from '../wrk.ts';

/** Hits of callers who have the list already and say so. */
export const notModified: Scenario = {
  name: 'not-modified',
  title: 'The cached read, answered with 304',
  async run(workshop) {
    const client = createClient();
    const { portico, nginx, checkHits } = await openCaches(workshop, client);
    const bare = await serveBare(workshop, SERVER_CORE, 'not-modified');
    const contenders = [
      ...[portico, ...(nginx === undefined ? [] : [nginx])].map(({ name, server, url, reply }) => ({
        name,
        server,
        load: { url, headers: { 'if-none-match': reply.headers.etag ?? '' } },
      })),
      { name: 'bare `node:http`', server: bare, load: { url: `${bare.url}${READ}tools`, headers: {} } },
    ];
    for (const { name, load } of contenders) {
      const { status } = await client.read(load.url, tokenOf(1), load.headers);
      if (status !== 304) throw new Error(`${name} answers ${status}`);
    }
    const found = standings(await takeTurns(workshop, contenders));
    await checkHits();
    client.close();
    return found;
  },
};
