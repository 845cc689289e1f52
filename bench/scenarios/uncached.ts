import { serveBare } from '../bare.ts';
import { SERVER_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { ours, serve } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';

/** Every read asks the platform; beside what would be used instead, and beside no work at all. */
export const uncached: Scenario = {
  name: 'uncached',
  title: 'The uncached read',
  async run(workshop) {
    const platform = await servePlatform(workshop);
    const settings = { resources: { tools: { cache: { ttlMs: 0 } } } };
    const proxy = [ours('bench/servers/reply-from.ts'), platform.url];
    const servers = {
      Portico: await servePortico(workshop, platform.url, { settings }),
      '`@fastify/reply-from`, streaming': await serve(workshop, SERVER_CORE, proxy),
      'bare `node:http`': await serveBare(workshop, SERVER_CORE),
    };
    const contenders = Object.entries(servers).map(([name, server]) => ({
      name,
      server,
      load: { url: `${server.url}${READ}tools` },
    }));
    return standings(await takeTurns(workshop, contenders));
  },
};
