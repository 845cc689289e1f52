import { warmUp } from '../caches.ts';
import { createClient } from '../client.ts';
import { CLIENT_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { ours, serve } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurnsAs } from '../turns.ts';

/** More than wait within an interval: a span that is dropped costs less than one that is sent. */

const TRACED = [
  { name: 'one trace of a hundred is kept', tracing: { enabled: true, sampleRatio: 0.01 } },
  { name: 'all are kept', tracing: { enabled: true, sampleRatio: 1 } },
  { name: 'off', tracing: { enabled: false } },
] as const;

/** The cached read of Porticos that keep more or less traces of it, and send them to a collector that discards them. */
export const traced: Scenario = {
  name: 'traced',
  title: 'What it costs to be traced',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const collector = await serve(workshop, CLIENT_CORE, [ours('bench/servers/collector.ts')]);
    const endpoint = `${collector.url}/v1/traces`;
    const found = await takeTurnsAs(workshop, {
      forms: TRACED,
      async open({ tracing }) {
        const resources = { tools: { cache: { ttlMs: 3_600_000 } } };
        const settings = { resources, tracing: { ...tracing, endpoint } };
        const server = await servePortico(workshop, platform.url, { settings });
        const url = `${server.url}${READ}tools`;
        await warmUp(client, url);
        return { server, load: { url } };
      },
    });
    client.close();
    return standings(found);
  },
};
