import { setTimeout as sleep } from 'node:timers/promises';
import { cutPage, type DemoItem, type Page } from './cut-page.ts';
import projects from './data/projects.json' with { type: 'json' };
import tools from './data/tools.json' with { type: 'json' };
import workflows from './data/workflows.json' with { type: 'json' };
import { type Handler, sendError, sendJson, startDemoServer } from './demo-server.ts';
import { createFaultControls } from './fault-controls.ts';
import { type Behaviour, faultOf, NO_FAULT } from './faults.ts';

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

interface DemoListOptions {
  /** Key of the items in the body. */
  readonly name: string;
  readonly items: readonly DemoItem[];
  readonly maxPageSize: number;
  /** Read for each request. */
  readonly behaviour: Behaviour;
}

/** The tenant of each access token. */
const TENANTS: ReadonlyMap<string, string> = new Map([
  ['demo-alice', 'harbour-bank'],
  ['demo-bob', 'kestrel-health'],
]);

/** Serves a list in the default upstream contract. The credential and the query are checked before a fault takes effect. */
function createDemoList({ name, items, maxPageSize, behaviour }: DemoListOptions): Handler {
  const render = ({ items, nextPageToken }: Page) => ({ [name]: items, nextPageToken });
  return async (exchange) => {
    const { request, response, query } = exchange;
    if (behaviour.latencyMs > 0) {
      await sleep(behaviour.latencyMs, undefined, { ref: false });
      if (response.destroyed) return;
    }
    const { authorization } = request.headers;
    const tenant = TENANTS.get(/^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
    if (tenant === undefined) {
      // RFC 6750, section 3.1: no error code for a request without a credential.
      const challenge = `Bearer realm="demo"${authorization === undefined ? '' : ', error="invalid_token"'}`;
      return sendError(response, 401, 'Use the token demo-alice or demo-bob.', { 'WWW-Authenticate': challenge });
    }
    const visible = items.filter(({ tenants }) => tenants === undefined || tenants.includes(tenant));
    const page = cutPage(visible, query, maxPageSize);
    if ('issue' in page) return sendError(response, 400, page.issue);
    if (behaviour.fault !== null) return faultOf(behaviour.fault)(exchange, page, render);
    sendJson(response, 200, render(page));
  };
}
