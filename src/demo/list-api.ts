import { setTimeout as sleep } from 'node:timers/promises';
import { cutPage, type DemoItem, type Page } from './cut-page.ts';
import { type Handler, sendError, sendJson } from './demo-server.ts';
import { type Behaviour, faultOf } from './faults.ts';

export interface DemoListOptions {
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
export function createDemoList({ name, items, maxPageSize, behaviour }: DemoListOptions): Handler {
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
