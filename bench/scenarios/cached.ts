import { type Client, createClient } from '../client.ts';
import { CLIENT_CORE, SERVER_CORE } from '../cores.ts';
import { serveNginx } from '../nginx.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { HELD, READ, servePortico, warmUp } from '../portico.ts';
import { type Server, serve } from '../server.ts';
import { paired } from '../turns.ts';
import type { Workshop } from '../workshop.ts';
import { CALLERS } from '../wrk.ts';

/** Hits only: every caller has read before. The last row is measured while another process uses the servers' core and its caches. */
export const cached = paired(
  'cached',
  [
    { name: 'cached read : bare', of: 'portico', to: 'bare', aim: 0.7 },
    { name: 'cached read : bare, p99', of: 'portico', to: 'bare', by: 'p99', aim: 2 },
    { name: 'cached read : nginx', of: 'portico', to: 'nginx', aim: 1 },
    { name: 'cached read : bare, busy neighbour', of: 'portico, busy', to: 'bare, busy', aim: 0.7 },
  ],
  async (workshop) => {
    const client = createClient();
    const held = await serveHeld(workshop);
    const portico = contender(held.portico);
    const bare = contender(await serve(workshop, SERVER_CORE, 'bare.ts'));
    const origin = await serve(workshop, CLIENT_CORE, 'bare.ts');
    const proxy = await serveNginx(workshop, origin.url);
    const nginx = proxy && contender(proxy);
    const { body } = await warmUp(client, bare.load.url);
    for (const { load } of [portico, ...(nginx ? [nginx] : [])]) {
      const reply = await warmUp(client, load.url);
      if (!reply.body.equals(body)) throw new Error('the servers send different bytes');
    }
    const beside = await serve(workshop, SERVER_CORE, 'neighbour.ts');
    beside.child.kill('SIGSTOP');
    const busy = { 'portico, busy': { ...portico, beside }, 'bare, busy': { ...bare, beside } };
    return { contenders: { portico, bare, nginx, ...busy }, check: () => checkHits(held.platform, client) };
  },
);

function contender(server: Server) {
  return { server, load: { url: `${server.url}${READ}tools` } };
}

/** A Portico under whose settings nothing grows stale while the bench runs, and its platform. */
export async function serveHeld(workshop: Workshop): Promise<{ platform: Server; portico: Server }> {
  const platform = await servePlatform(workshop);
  return { platform, portico: await servePortico(workshop, platform.url, { settings: HELD }) };
}

/** Rejects where the platform was requested more often than once for each caller: then not all reads were hits. */
export async function checkHits(platform: Server, client: Client): Promise<void> {
  const asked = await countRequests(platform, client);
  client.close();
  if (asked !== CALLERS) throw new Error(`the platform received ${asked} requests for ${CALLERS} callers`);
}
