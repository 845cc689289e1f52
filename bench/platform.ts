import type { Client } from './client.ts';
import { CLIENT_CORE } from './cores.ts';
import { type Server, serve } from './server.ts';
import type { Workshop } from './workshop.ts';

interface PlatformOptions {
  /** @default 0 */
  readonly delayMs?: number;
  /** @default 0 */
  readonly projects?: number;
  /** @default 100 */
  readonly tools?: number;
  /** Whether each list of tools differs in every item from all earlier ones. @default false */
  readonly isAlwaysNew?: boolean;
}

/** The platform behind Portico, on the clients' core. */
export function servePlatform(
  workshop: Workshop,
  { delayMs = 0, projects = 0, tools = 100, isAlwaysNew = false }: PlatformOptions = {},
): Promise<Server> {
  return serve(workshop, CLIENT_CORE, 'upstream.ts', ...[delayMs, projects, tools, Number(isAlwaysNew)].map(String));
}

/** Requests that it was sent so far. */
export async function countRequests(platform: Server, client: Client): Promise<number> {
  const { body } = await client.read(`${platform.url}/count`, 'bench');
  return Number(body.toString());
}

/** Settings of projects in pages of this size, with a total. They are never stored, so that each read asks for all pages. */
export function pagedProjects(size: number) {
  return {
    pagination: { kind: 'page', sizeParam: 'pageSize', size, pageParam: 'page', firstPage: 1, total: 'total' },
  } as const;
}
