import { SERVER_CORE } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { type Server, serve } from '../server.ts';
import { paired } from '../turns.ts';

/** Every read requests the platform, beside a proxy that streams its answers and looks at none of them. */
export const uncached = paired(
  'uncached',
  [
    { name: 'uncached read of a new list : reply-from', of: 'portico, new', to: 'reply-from, new', aim: 1 },
    { name: 'uncached read of a known list : reply-from', of: 'portico', to: 'reply-from', aim: 1 },
  ],
  async (workshop) => {
    const settings = { resources: { tools: { cache: { ttlMs: 0 } } } };
    const contender = (server: Server) => ({ server, load: { url: `${server.url}${READ}tools` } });
    const both = async (isAlwaysNew: boolean) => {
      const { url } = await servePlatform(workshop, { isAlwaysNew });
      const portico = contender(await servePortico(workshop, url, { settings }));
      return { portico, replyFrom: contender(await serve(workshop, SERVER_CORE, 'reply-from.ts', url)) };
    };
    const [known, fresh] = [await both(false), await both(true)];
    return {
      contenders: {
        'portico, new': fresh.portico,
        'reply-from, new': fresh.replyFrom,
        portico: known.portico,
        'reply-from': known.replyFrom,
      },
    };
  },
);
