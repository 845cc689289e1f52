import type { DemoItem } from './cut-page.ts';
import projects from './data/projects.json' with { type: 'json' };
import tools from './data/tools.json' with { type: 'json' };
import workflows from './data/workflows.json' with { type: 'json' };
import { startDemoServer } from './demo-server.ts';
import { createFaultControls } from './fault-controls.ts';
import { type Behaviour, NO_FAULT } from './faults.ts';
import { createDemoList } from './list-api.ts';

/** A fictional security platform for demos and tests: three APIs, each on an HTTP server of its own. */
export interface DemoPlatform {
  /** Origins, without a trailing slash. */
  readonly urls: { readonly projects: string; readonly workflows: string; readonly tools: string };
  /** Behaviour of each API. A change takes effect with the next request. */
  readonly behaviour: { readonly projects: Behaviour; readonly workflows: Behaviour; readonly tools: Behaviour };
  /** Closes all servers at once, also requests that wait for a response. Can be called again. */
  close(): Promise<void>;
}

export interface DemoPlatformOptions {
  /** Most items of a page. Small, so that a list takes several pages. @default 5 */
  readonly maxPageSize?: number;
}

/** Starts the three servers on free ports of the loopback interface. */
export async function startDemoPlatform({ maxPageSize = 5 }: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const start = async (name: string, items: readonly DemoItem[]) => {
    const behaviour = { ...NO_FAULT };
    const list = createDemoList({ name, items, maxPageSize, behaviour });
    const server = await startDemoServer({ [`/v1/${name}`]: { GET: list }, ...createFaultControls(name, behaviour) });
    return { ...server, behaviour };
  };
  const apis = {
    projects: await start('projects', projects),
    workflows: await start('workflows', workflows),
    tools: await start('tools', tools),
  };
  return {
    urls: { projects: apis.projects.url, workflows: apis.workflows.url, tools: apis.tools.url },
    behaviour: {
      projects: apis.projects.behaviour,
      workflows: apis.workflows.behaviour,
      tools: apis.tools.behaviour,
    },
    close: async () => {
      await Promise.all(Object.values(apis).map((api) => api.close()));
    },
  };
}
