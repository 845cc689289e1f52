import { serveBare } from '../bare.ts';
import { openCaches, warmUp } from '../caches.ts';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { READ } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';

/** Hits in forms that were made before; against a bare server that holds the same form. */
export const compressed: Scenario = {
  name: 'compressed',
  title: 'The cached read, compressed',
  async run(workshop) {
    const client = createClient();
    const { portico, checkHits } = await openCaches(workshop, client);
    const tables: string[] = [];
    for (const coding of ['zstd', 'gzip'] as const) {
      const headers = { 'accept-encoding': coding };
      const server = await serveBare(workshop, SERVER_CORE, coding);
      const url = `${server.url}${READ}tools`;
      const bare = await client.read(url, 'anybody');
      const { headers: sent, body } = await warmUp(client, portico.url, headers);
      if (sent['content-encoding'] !== coding || !body.equals(bare.body)) {
        throw new Error(`Portico and the bare server do not send the same ${coding} bytes`);
      }
      const results = await takeTurns(workshop, [
        { name: `Portico, ${coding}`, server: portico.server, load: { url: portico.url, headers } },
        { name: `bare \`node:http\`, ${coding}`, server, load: { url, headers } },
      ]);
      tables.push(standings(results));
    }
    await checkHits();
    client.close();
    return tables.join('\n');
  },
};
