import { openCaches, warmUp } from '../caches.ts';
import { createClient } from '../client.ts';
import type { Scenario } from '../scenario.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';

/** The same read from cache twice: its target in the table, and one that only Koa's router matches. */
export const koa: Scenario = {
  name: 'koa',
  title: "Koa's share of a cached read",
  async run(workshop) {
    const client = createClient();
    const { portico, checkHits } = await openCaches(workshop, client);
    // A parameter that no operation reads changes nothing but the target.
    const url = `${portico.url}&through=koa`;
    const reply = await warmUp(client, url);
    if (!reply.body.equals(portico.reply.body)) throw new Error('the two targets are not answered alike');
    const results = await takeTurns(workshop, [
      { name: 'a target in the table', server: portico.server, load: { url: portico.url } },
      { name: 'the same through Koa', server: portico.server, load: { url } },
    ]);
    await checkHits();
    client.close();
    return standings(results);
  },
};
