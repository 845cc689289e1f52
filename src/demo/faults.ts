import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from './cut-page.ts';
import { send, sendError, sendJson } from './reply.ts';
import type { Exchange } from './server.ts';

/** Responds in place of the page: `render` makes a page's body as the API would have sent it. */
export type Fault = (exchange: Exchange, page: Page, render: (page: Page) => object) => void;

const DRIBBLE_MS = 100;
const RETRY_AFTER = { 'Retry-After': '2' };
const REVOKED = { 'WWW-Authenticate': 'Bearer realm="demo", error="invalid_token"' };
/** On another host: whoever follows a redirect there takes the token along. */
const SIGN_IN = { Location: 'https://sso.example/login' };
const MAINTENANCE = '<!doctype html><title>Back soon</title><h1>Back soon</h1>\n';

const FAULTS = {
  error: ({ response }) => sendError(response, 500, 'Something broke.'),
  unavailable: ({ response }) => sendError(response, 503, 'Down for maintenance.', RETRY_AFTER),
  'rate-limit': ({ response }) => sendError(response, 429, 'Too many requests.', RETRY_AFTER),
  unauthorized: ({ response }) => sendError(response, 401, 'The access token was revoked.', REVOKED),
  forbidden: ({ response }) => sendError(response, 403, 'This caller may not read this list.'),
  redirect: ({ response }) => sendError(response, 302, 'Sign in first.', SIGN_IN),
  reset: ({ request }) => void request.socket.resetAndDestroy(),
  stall: () => {},
  'slow-body': ({ response }, page, render) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    // A client that loses patience is what this fault is for: there is nothing to do about it.
    pipeline(drops(JSON.stringify(render(page))), response, () => {});
  },
  'cut-short': ({ request, response }, page, render) => {
    const body = Buffer.from(JSON.stringify(render(page)));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
  },
  garbage: ({ response }) => send(response, 200, 'text/html', MAINTENANCE),
  'invalid-item': ({ response }, page, render) =>
    sendJson(response, 200, render({ ...page, items: [{ id: 'nameless', name: '' }, ...page.items] })),
  loop: ({ response }, page, render) => sendJson(response, 200, render({ ...page, nextPageToken: page.token })),
} as const satisfies Record<string, Fault>;

/** A way in which a demo API can be told to fail, as `PUT /demo/fault?kind=` names it. */
export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[];

export function isFaultKind(text: string | null): text is FaultKind {
  return FAULT_KINDS.some((kind) => kind === text);
}

export function faultOf(kind: FaultKind): Fault {
  return FAULTS[kind];
}

/** A byte at a time: a timeout between two bytes never passes, and the whole takes minutes. */
async function* drops(text: string) {
  for (const byte of Buffer.from(text)) {
    yield Uint8Array.of(byte);
    await sleep(DRIBBLE_MS, undefined, { ref: false });
  }
}
