import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsInput } from '../src/gateway.ts';
import { SERVER_CORE } from './cores.ts';
import { ours, type Server, serve } from './server.ts';
import type { Workshop } from './workshop.ts';

/** The read that all servers of a comparison answer. */
export const READ = '/mcp/v1/resources/read?uri=platform://';

let files = 0;

/** Writes settings for Portico in front of one platform that has all three lists, and gives the file's path. JSON is YAML. */
export async function writeSettings(
  { folder }: Workshop,
  platform: string,
  settings: Partial<SettingsInput> = {},
): Promise<string> {
  // One for each: a Portico goes on by its file once that has changed.
  files += 1;
  const file = join(folder, `portico-${files}.yaml`);
  const upstream = { baseUrl: platform };
  const upstreams = { projects: upstream, workflows: upstream, tools: upstream };
  await writeFile(file, JSON.stringify({ http: { port: 0 }, admin: { port: 0 }, upstreams, ...settings }));
  return file;
}

/** Runs Portico on one core, its access log on. `node` are arguments for Node itself. */
export async function servePortico(
  workshop: Workshop,
  platform: string,
  { settings, main = 'src/main.ts', node = [], watched = true, environment, core = SERVER_CORE }: PorticoOptions = {},
): Promise<Server> {
  const file = await writeSettings(workshop, platform, settings);
  return serve(workshop, core, [...node, ours(main), 'serve', '--config', file], watched, environment);
}

interface PorticoOptions {
  readonly settings?: Partial<SettingsInput>;
  /** Entry of the process. */
  readonly main?: string;
  readonly node?: readonly string[];
  /** Whether its garbage collection is watched. @default true */
  readonly watched?: boolean;
  /** Beside that of the bench. @default nothing */
  readonly environment?: Readonly<Record<string, string>>;
  /** @default the servers' core */
  readonly core?: number;
}
