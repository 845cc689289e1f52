import { serveBare } from './bare.ts';
import { type Client, each, type Reply } from './client.ts';
import { CLIENT_CORE } from './cores.ts';
import { serveNginx } from './nginx.ts';
import { countRequests, servePlatform } from './platform.ts';
import { READ, servePortico } from './portico.ts';
import type { Server } from './server.ts';
import type { Workshop } from './workshop.ts';
import { CALLERS, tokenOf } from './wrk.ts';

/** Long enough for nothing to grow stale while the bench runs. */
const SETTINGS = { resources: { tools: { cache: { ttlMs: 3_600_000 } } } };

/** A cache that holds the list of tools for every caller. */
export interface Cache {
  readonly name: string;
  readonly server: Server;
  readonly url: string;
  /** What a caller was sent. */
  readonly reply: Reply;
}

/** Portico and, where this machine has it, nginx, both warmed up. */
export interface Caches {
  readonly portico: Cache;
  readonly nginx: Cache | undefined;
  /** Rejects where Portico has asked its platform more often than once for each caller: then not all reads were hits. */
  checkHits(): Promise<void>;
}

export async function openCaches(workshop: Workshop, client: Client): Promise<Caches> {
  const platform = await servePlatform(workshop);
  const server = await servePortico(workshop, platform.url, { settings: SETTINGS });
  const portico = await warm('Portico', server);
  const origin = await serveBare(workshop, CLIENT_CORE);
  const proxy = await serveNginx(workshop, origin.url);
  return {
    portico,
    nginx: proxy && (await warm('nginx `proxy_cache`', proxy)),
    async checkHits() {
      const asked = await countRequests(platform, client);
      if (asked !== CALLERS) throw new Error(`the platform was asked ${asked} times for ${CALLERS} callers`);
    },
  };

  async function warm(name: string, of: Server): Promise<Cache> {
    const url = `${of.url}${READ}tools`;
    return { name, server: of, url, reply: await warmUp(client, url) };
  }
}

/** Has every caller read once, and gives one of the answers. Rejects where one is no 200. */
export async function warmUp(client: Client, url: string, headers: Record<string, string> = {}): Promise<Reply> {
  const replies: Reply[] = [];
  await each(CALLERS, 32, async (caller) => {
    const reply = await client.read(url, tokenOf(caller), headers);
    if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${reply.body}`);
    replies[0] = reply;
  });
  const [reply] = replies;
  if (reply === undefined) throw new Error('there was no read');
  return reply;
}
