import { createDemoApi } from './api.ts';
import { type Behaviour, CALM } from './control.ts';
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
  /** How each API behaves: what is written here holds from the next request on. */
  readonly behaviour: { readonly projects: Behaviour; readonly workflows: Behaviour; readonly tools: Behaviour };
  /** Ends all at once, also requests that wait for a response. May be called again. */
  close(): Promise<void>;
}

/** How its lists are cut. */
export interface DemoPlatformOptions {
  /** Items of a page at most. Small, so that a list takes several pages. @default 5 */
  readonly maxPageSize?: number;
}

/** Starts the three servers on free ports of the loopback interface. */
export async function startDemoPlatform({ maxPageSize = 5 }: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const behaviour = { projects: { ...CALM }, workflows: { ...CALM }, tools: { ...CALM } };
  const start = (name: keyof typeof behaviour, itemsOf: (tenant: Tenant) => readonly DemoItem[]) =>
    startDemoServer(createDemoApi({ name, itemsOf, maxPageSize, behaviour: behaviour[name] }));
  const servers = {
    projects: await start('projects', (tenant) => projects.filter((project) => project.tenants.includes(tenant))),
    workflows: await start('workflows', () => workflows),
    tools: await start('tools', () => tools),
  };
  return {
    urls: { projects: servers.projects.url, workflows: servers.workflows.url, tools: servers.tools.url },
    behaviour,
    close: async () => {
      await Promise.all(Object.values(servers).map((server) => server.close()));
    },
  };
}
