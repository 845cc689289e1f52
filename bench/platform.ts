import type { Client } from './client.ts';
import { CLIENT_CORE } from './cores.ts';
import { ours, type Server, serve } from './server.ts';
import type { Workshop } from './workshop.ts';

/** The platform behind Portico, on the clients' core. It answers after `delayMs`, and has so many projects and tools. */
export function servePlatform(workshop: Workshop, delayMs = 0, projects = 0, tools = 100): Promise<Server> {
  const counts = [delayMs, projects, tools].map(String);
  return serve(workshop, CLIENT_CORE, [ours('bench/servers/upstream.ts'), ...counts]);
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
