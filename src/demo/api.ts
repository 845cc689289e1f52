import { setTimeout as sleep } from 'node:timers/promises';
import { type Behaviour, createControl } from './control.ts';
import { cutPage, type DemoItem, type Page } from './cut-page.ts';
import { faultOf } from './faults.ts';
import { sendError, sendJson } from './reply.ts';
import type { Handler, Routes } from './server.ts';
import { type Tenant, tenantOf } from './tenants.ts';

export interface DemoApiOptions {
  /** The last part of the list's path, and the key of the items in its body. */
  readonly name: string;
  readonly itemsOf: (tenant: Tenant) => readonly DemoItem[];
  readonly maxPageSize: number;
  /** Looked at with each request. The switches under `/demo` write to it. */
  readonly behaviour: Behaviour;
}

/**
 * One API: its list at `/v1/<name>`, in the default upstream contract, and its switches under `/demo`.
 * A wrong credential or query is told so whatever the fault: a fault strikes where the page would have been sent.
 */
export function createDemoApi({ name, itemsOf, maxPageSize, behaviour }: DemoApiOptions): Routes {
  const render = ({ items, nextPageToken }: Page) => ({ [name]: items, nextPageToken });

  const list: Handler = async (exchange) => {
    const { request, response, query } = exchange;
    if (behaviour.latencyMs > 0) {
      await sleep(behaviour.latencyMs, undefined, { ref: false });
      if (response.destroyed) return;
    }
    const { authorization } = request.headers;
    const tenant = tenantOf(authorization);
    if (tenant === undefined) {
      // RFC 6750, section 3.1: no error code for a request that brought no credential.
      const challenge =
        authorization === undefined ? 'Bearer realm="demo"' : 'Bearer realm="demo", error="invalid_token"';
      return sendError(response, 401, 'Use the token demo-alice or demo-bob.', { 'WWW-Authenticate': challenge });
    }
    const page = cutPage(itemsOf(tenant), query, maxPageSize);
    if ('issue' in page) return sendError(response, 400, page.issue);
    if (behaviour.fault !== null) return faultOf(behaviour.fault)(exchange, page, render);
    sendJson(response, 200, render(page));
  };

  return { [`/v1/${name}`]: { GET: list }, ...createControl(name, behaviour) };
}
