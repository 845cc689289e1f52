import { createDemoApi } from './api.ts';
import type { DemoItem } from './cut-page.ts';
import { projects } from './data/projects.ts';
import { tools } from './data/tools.ts';
import { workflows } from './data/workflows.ts';
import { startDemoServer } from './server.ts';
import type { Tenant } from './tenants.ts';

/** A security platform made up for demos and tests: three APIs, each an HTTP server of its own. */
export interface DemoPlatform {
  /** Origins, without a trailing slash. */
  readonly urls: { readonly projects: string; readonly workflows: string; readonly tools: string };
  /** Ends all at once, also requests that wait for a response. May be called again. */
  close(): Promise<void>;
}

export interface DemoPlatformOptions {
  /** Items of a page at most. Small, so that a list takes several pages. @default 5 */
  readonly maxPageSize?: number;
}

/** Starts the three servers on free ports of the loopback interface. */
export async function startDemoPlatform({ maxPageSize = 5 }: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const start = (name: string, itemsOf: (tenant: Tenant) => readonly DemoItem[]) =>
    startDemoServer(createDemoApi({ name, itemsOf, maxPageSize }));
  const servers = {
    projects: await start('projects', (tenant) => projects.filter((project) => project.tenants.includes(tenant))),
    workflows: await start('workflows', () => workflows),
    tools: await start('tools', () => tools),
  };
  return {
    urls: { projects: servers.projects.url, workflows: servers.workflows.url, tools: servers.tools.url },
    close: async () => {
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
}
