import { setTimeout as sleep } from 'node:timers/promises';
import { cutPage, type DemoItem, type DemoPage } from './cut-page.ts';
import projects from './data/projects.json' with { type: 'json' };
import tools from './data/tools.json' with { type: 'json' };
import workflows from './data/workflows.json' with { type: 'json' };
import { type DemoHandler, sendError, sendJson, startDemoServer } from './demo-server.ts';
import { type Behaviour, createFaultControls, DEMO_FAULTS, NO_FAULT } from './faults.ts';

export type DemoApiName = 'projects' | 'workflows' | 'tools';

/** A fictional security platform with the default contract, and faults that are switched on and off. */
export interface DemoPlatform {
  /** Settings for this platform. */
  readonly upstreams: Readonly<Record<DemoApiName, { readonly baseUrl: string }>>;
  /** Origin of each API, without a trailing slash. */
  readonly urls: Readonly<Record<DemoApiName, string>>;
  /** From its next request on: `behaviour.tools.fault = 'stall'`, `behaviour.projects.latencyMs = 50`; `null` and 0 reset it. */
  readonly behaviour: Readonly<Record<DemoApiName, Behaviour>>;
  /** Ends all listeners and requests. Can be called again. */
  close(): Promise<void>;
}

export interface DemoPlatformOptions {
  /** Most items of a page. Small, so that a list takes several pages. @default 5 */
  readonly maxPageSize?: number;
}

const LISTS: Readonly<Record<DemoApiName, readonly DemoItem[]>> = { projects, workflows, tools };

/** Starts the platform of `portico --demo` in this process, on real sockets. It accepts the tokens `demo-alice` and `demo-bob`. */
export async function startDemoPlatform({ maxPageSize = 5 }: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const apis = await Promise.all(
    Object.entries(LISTS).map(async ([name, items]) => {
      const behaviour = { ...NO_FAULT };
      const list = createDemoList({ name, items, maxPageSize, behaviour });
      const server = await startDemoServer({ [`GET /v1/${name}`]: list, ...createFaultControls(name, behaviour) });
      return { ...server, name, behaviour };
    }),
  );
  const byName = <Part>(part: (api: (typeof apis)[number]) => Part) =>
    Object.fromEntries(apis.map((api) => [api.name, part(api)])) as Record<DemoApiName, Part>;
  return {
    upstreams: byName(({ url }) => ({ baseUrl: url })),
    urls: byName(({ url }) => url),
    behaviour: byName(({ behaviour }) => behaviour),
    close: async () => {
      await Promise.all(apis.map((api) => api.close()));
    },
  };
}

interface DemoListOptions {
  readonly name: string;
  readonly items: readonly DemoItem[];
  readonly maxPageSize: number;
  readonly behaviour: Behaviour;
}

const TENANTS: ReadonlyMap<string, string> = new Map([
  ['demo-alice', 'harbour-bank'],
  ['demo-bob', 'kestrel-health'],
]);

/** Serves a list in the default upstream contract. The credential and the query are checked before a fault takes effect. */
function createDemoList({ name, items, maxPageSize, behaviour }: DemoListOptions): DemoHandler {
  const render = ({ items, nextPageToken }: DemoPage) => ({ [name]: items, nextPageToken });
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
    if (behaviour.fault !== null) return DEMO_FAULTS[behaviour.fault](exchange, page, render);
    sendJson(response, 200, render(page));
  };
}
