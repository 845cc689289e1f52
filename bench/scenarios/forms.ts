import { createClient } from '../client.ts';
import { READ, warmUp } from '../portico.ts';
import { paired } from '../turns.ts';
import { checkHits, serveHeld } from './cached.ts';

/** Hits in another form, made before, beside the full response of the same process. */
export const forms = paired(
  'forms',
  [
    { name: '304 : full response', of: 'not modified', to: 'full', aim: 1 },
    { name: 'zstd : full response', of: 'zstd', to: 'full', aim: 1 },
    { name: 'gzip : full response', of: 'gzip', to: 'full', aim: 1 },
  ],
  async (workshop) => {
    const client = createClient();
    const { platform, portico } = await serveHeld(workshop);
    const url = `${portico.url}${READ}tools`;
    const { headers: of } = await warmUp(client, url);
    const headers = {
      full: {},
      'not modified': { 'if-none-match': of.etag ?? '' },
      zstd: { 'accept-encoding': 'zstd' },
      gzip: { 'accept-encoding': 'gzip' },
    };
    const { status } = await client.read(url, 'bench-1', headers['not modified']);
    if (status !== 304) throw new Error(`a request with If-None-Match was answered ${status}`);
    for (const coding of ['zstd', 'gzip'] as const) {
      const reply = await warmUp(client, url, { headers: headers[coding] });
      if (reply.headers['content-encoding'] !== coding) throw new Error(`the response is not coded with ${coding}`);
    }
    const contenders = Object.entries(headers).map(([name, fields]) => {
      return [name, { server: portico, load: { url, headers: fields } }] as const;
    });
    return { contenders: Object.fromEntries(contenders), check: () => checkHits(platform, client) };
  },
);
