import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { listen } from '../listening.ts';

export type HttpUpstream = Awaited<ReturnType<typeof startHttpUpstream>>;

/** A real HTTP server on loopback in place of a platform API. `record`: whether requests are kept. @default true */
export async function startHttpUpstream(handler: RequestListener, { record = true } = {}) {
  const requests: IncomingMessage[] = [];
  let respond = handler;
  const server = createServer((request, response) => {
    if (record) requests.push(request);
    respond(request, response);
  });
  return {
    ...(await listen(server)),
    /** Every request so far, oldest first. */
    requests: requests as readonly IncomingMessage[],
    /** Has this respond to requests from now on. */
    respond(next: RequestListener) {
      respond = next;
    },
  };
}

export function json(body: unknown, status = 200, headers: Record<string, string | string[]> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Responds to the first request with the first of these, and so on; from the last one on with the last. */
export function inTurn(...handlers: readonly RequestListener[]): RequestListener {
  let count = 0;
  return (request, response) => {
    handlers[Math.min(count, handlers.length - 1)]?.(request, response);
    count += 1;
  };
}

/** Serves lists by their names, each in one page of the default contract; an item may depend on the request. */
export function lists(
  items: Readonly<Record<string, readonly object[] | ((request: IncomingMessage) => readonly object[])>>,
): RequestListener {
  return (request, response) => {
    const name = listOf(request);
    const list = items[name] ?? [];
    json({ [name]: typeof list === 'function' ? list(request) : list, nextPageToken: '' })(request, response);
  };
}

/** Name of the list that a request of the default contract is for: `tools` of `/v1/tools?…`. */
export function listOf({ url = '' }: IncomingMessage): string {
  return /^\/v1\/(\w+)/.exec(url)?.[1] ?? '';
}

/** The bearer token of a request; empty where there is none. */
export function tokenOf({ headers }: IncomingMessage): string {
  return /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
}
