import type { DemoPage } from './cut-page.ts';
import { type DemoHandler, type DemoRequest, type Routes, send, sendError, sendJson } from './demo-server.ts';

type Fault = (exchange: DemoRequest, page: DemoPage, render: (page: DemoPage) => object) => void;

const MAX_LATENCY_MS = 60_000;
const RETRY_AFTER = { 'Retry-After': '2' };
const REVOKED = { 'WWW-Authenticate': 'Bearer realm="demo", error="invalid_token"' };
/** On another host: a client that follows the redirect sends it the token. */
const SIGN_IN = { Location: 'https://sso.example/login' };
const MAINTENANCE = '<!doctype html><title>Back soon</title><h1>Back soon</h1>\n';

export const DEMO_FAULTS = {
  error: ({ response }) => sendError(response, 500, 'Something broke.'),
  unavailable: ({ response }) => sendError(response, 503, 'Down for maintenance.', RETRY_AFTER),
  'rate-limit': ({ response }) => sendError(response, 429, 'Too many requests.', RETRY_AFTER),
  unauthorized: ({ response }) => sendError(response, 401, 'The access token was revoked.', REVOKED),
  forbidden: ({ response }) => sendError(response, 403, 'This caller may not read this list.'),
  redirect: ({ response }) => sendError(response, 302, 'Sign in first.', SIGN_IN),
  reset: ({ request }) => void request.socket.resetAndDestroy(),
  stall: () => {},
  garbage: ({ response }) => send(response, 200, MAINTENANCE, { 'Content-Type': 'text/html' }),
  'invalid-item': ({ response }, page, render) =>
    sendJson(response, 200, render({ ...page, items: [{ id: 'nameless', name: '' }, ...page.items] })),
  loop: ({ response }, page, render) => sendJson(response, 200, render({ ...page, nextPageToken: page.token })),
} as const satisfies Record<string, Fault>;

export type FaultKind = keyof typeof DEMO_FAULTS;

export const FAULT_KINDS = Object.keys(DEMO_FAULTS) as readonly FaultKind[];

export interface Behaviour {
  fault: FaultKind | null;
  latencyMs: number;
}

export const NO_FAULT: Readonly<Behaviour> = { fault: null, latencyMs: 0 };

/** Controls of one demo API: `GET` shows them, and `PUT` sets both, or resets what its query leaves out. The response is the new state. */
export function createFaultControls(api: string, behaviour: Behaviour): Routes {
  const show: DemoHandler = ({ response }) => sendJson(response, 200, { api, ...behaviour, faultKinds: FAULT_KINDS });
  const set: DemoHandler = (exchange) => {
    const { query, response } = exchange;
    const fault = FAULT_KINDS.find((kind) => kind === query.get('fault')) ?? null;
    const latencyMs = Number(query.get('latencyMs') ?? 0);
    if (query.has('fault') && fault === null)
      return sendError(response, 400, `fault must be one of ${FAULT_KINDS.join(', ')}.`);
    if (!Number.isInteger(latencyMs) || latencyMs < 0 || latencyMs > MAX_LATENCY_MS)
      return sendError(response, 400, `latencyMs must be a whole number from 0 to ${MAX_LATENCY_MS}.`);
    Object.assign(behaviour, { fault, latencyMs });
    return show(exchange);
  };
  return { 'GET /demo': show, 'PUT /demo': set };
}
