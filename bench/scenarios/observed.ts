import { warmUp } from '../caches.ts';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { READ, writeSettings } from '../portico.ts';
import { accepting, freePort } from '../ports.ts';
import type { Scenario } from '../scenario.ts';
import { ours } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurnsAs } from '../turns.ts';
import type { Workshop } from '../workshop.ts';

const WATCHED = [
  { name: 'log and metrics', level: 'info', metrics: true },
  { name: 'log alone', level: 'info', metrics: false },
  { name: 'metrics alone', level: 'silent', metrics: true },
  { name: 'neither', level: 'silent', metrics: false },
] as const;

/** The cached read of Porticos that tell more or less of it. */
export const observed: Scenario = {
  name: 'observed',
  title: 'What it costs to be watched',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const found = await takeTurnsAs(workshop, {
      forms: WATCHED,
      async open(watched) {
        const { url, server } = await serveWatched(workshop, platform.url, watched);
        await warmUp(client, url);
        return { server, load: { url } };
      },
    });
    client.close();
    return standings(found);
  },
};

/** A Portico without a log does not tell where it listens. */
async function serveWatched(workshop: Workshop, platform: string, { level, metrics }: (typeof WATCHED)[number]) {
  const port = await freePort();
  const file = await writeSettings(workshop, platform, {
    http: { port },
    admin: { port: 0, metrics },
    log: { level },
    resources: { tools: { cache: { ttlMs: 3_600_000 } } },
  });
  const server = workshop.run(SERVER_CORE, process.execPath, [ours('src/main.ts'), 'serve', '--config', file]);
  server.onOutput(() => {});
  await accepting(port);
  return { server: { ...server, url: `http://127.0.0.1:${port}` }, url: `http://127.0.0.1:${port}${READ}tools` };
}
