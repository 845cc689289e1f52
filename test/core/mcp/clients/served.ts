import type { RequestListener } from 'node:http';
import { settingsFor, startGateway, TOKEN } from '../../../support/gateway.ts';
import { startHttpUpstream } from '../../../support/platform/http-upstream.ts';
import { MAIN, porticoEnvironment, writeSettings } from '../../../support/process/process.ts';
import type { Server } from './client.ts';

export type Served = Awaited<ReturnType<typeof serve>>;

/** What is awkward in JSON, in UTF-8, in event streams and in lines. */
const AWKWARD = [
  ...['plain', '"quoted" \\ / \t', 'naïve 日本語 🦀', 'line\u2028and\u2029paragraph', 'two\nlines\r\ndata: x'],
];

const PAGE_SIZE = 3;

/** Three pages of each list, in the default upstream contract, for the right token. */
const platform: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://platform');
  const name = pathname.slice('/v1/'.length);
  const start = Number(searchParams.get('pageToken') ?? 0);
  const all = [...AWKWARD, ...AWKWARD].map((text, index) => ({
    id: `${name}-${index}`,
    name: `${name} ${text}`,
    description: text,
  }));
  const next = start + PAGE_SIZE;
  const page = { [name]: all.slice(start, next), nextPageToken: next < all.length ? String(next) : '' };
  response.writeHead(request.headers.authorization === `Bearer ${TOKEN}` ? 200 : 401, {
    'content-type': 'application/json',
  });
  response.end(JSON.stringify(page));
};

/** Portico in front of one platform: a gateway in this process, and what it takes to start another over stdio, with settings in `folder`. */
export async function serve(folder: string) {
  const upstream = await startHttpUpstream(platform);
  const running = await startGateway(settingsFor(upstream.url));
  const each = { baseUrl: upstream.url };
  const settings = { log: { level: 'silent' }, upstreams: { projects: each, workflows: each, tools: each } };
  const config = await writeSettings(folder, JSON.stringify(settings));
  return {
    http: (token?: string): Server => ({
      kind: 'http',
      url: `${running.url}/mcp`,
      ...(token !== undefined && { token }),
    }),
    stdio: (token: string): Server => ({
      kind: 'stdio',
      command: process.execPath,
      args: [MAIN, 'stdio', '--config', config],
      env: porticoEnvironment({ PORTICO_TOKEN: token }),
    }),
    /** Body of the HTTP read. */
    read: async (name: string) => (await running.read(name)).text(),
    async close() {
      await running.gateway.close();
      await upstream.close();
    },
  };
}
