import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsInput } from '../src/gateway.ts';
import { BUILT, build } from './build.ts';
import { type Client, each, type Reply } from './client.ts';
import { type Cores, SERVER_CORE } from './cores.ts';
import { accepting, freePort } from './ports.ts';
import { ours, type Server } from './server.ts';
import type { Workshop } from './workshop.ts';
import { CALLERS, tokenOf } from './wrk.ts';

/** The read that all servers of a comparison answer. */
export const READ = '/mcp/v1/resources/read?uri=platform://';

/** Settings under which nothing grows stale while the bench runs. */
export const HELD = { resources: { tools: { cache: { ttlMs: 3_600_000 } } } } satisfies Partial<SettingsInput>;

/** Runs a command so many times, until it is asked to end. */
const RUN =
  'count=$1; shift; for one in $(seq "$count"); do "$@" & all="$all $!"; done; trap "kill $all" TERM; wait; wait';

let files = 0;

interface PorticoOptions {
  /** @default the servers' core */
  readonly cores?: Cores;
  readonly settings?: Partial<SettingsInput>;
  /** How many run on the port. @default 1 */
  readonly processes?: number;
  /** In addition to that of the bench. @default none */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs Portico as it is shipped, with its log on, in front of one platform that has all three lists. */
export async function servePortico(
  workshop: Workshop,
  platform: string,
  { cores = SERVER_CORE, settings, processes = 1, environment }: PorticoOptions = {},
): Promise<Server & { readonly startedAt: number }> {
  const { port, command } = await porticoCommand(workshop, platform, settings);
  const several = ['-c', RUN, 'sh', String(processes), process.execPath, ...command];
  const startedAt = performance.now();
  const server =
    processes === 1
      ? workshop.run(cores, process.execPath, command, environment)
      : workshop.run(cores, 'sh', several, environment);
  await accepting(port);
  return { ...server, startedAt, url: `http://127.0.0.1:${port}` };
}

/** Builds Portico and writes its settings. Returns what Node has to run, and the port on which it will listen. */
export async function porticoCommand(workshop: Workshop, platform: string, settings?: Partial<SettingsInput>) {
  build();
  const port = await freePort();
  // One file for each: a Portico reloads its file when that changes. JSON is YAML.
  files += 1;
  const file = join(workshop.folder, `portico-${files}.yaml`);
  const upstream = { baseUrl: platform };
  const upstreams = { projects: upstream, workflows: upstream, tools: upstream };
  await writeFile(
    file,
    JSON.stringify({ admin: { port: 0 }, upstreams, ...settings, http: { ...settings?.http, port } }),
  );
  // As the image runs it.
  return { port, command: ['--single-threaded-gc', ours(BUILT), 'serve', '--config', file] };
}

/** Has every caller read once, and returns one of the answers. Rejects where one is not 200. */
export async function warmUp(
  client: Client,
  url: string,
  { headers = {}, token = tokenOf }: { headers?: Record<string, string>; token?: (caller: number) => string } = {},
): Promise<Reply> {
  const replies: Reply[] = [];
  await each(CALLERS, 32, async (caller) => {
    const reply = await client.read(url, token(caller), headers);
    if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${reply.body}`);
    replies[0] = reply;
  });
  const [reply] = replies;
  if (reply === undefined) throw new Error('there was no read');
  return reply;
}
