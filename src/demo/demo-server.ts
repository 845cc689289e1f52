import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../core/kernel/node-http.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

export type Handler = (exchange: Exchange) => void | Promise<void>;

/** Handlers by path, then by method. A handler of `GET` also answers `HEAD` (RFC 9110, section 9.1). */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

export interface DemoServer {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Closes every connection at once, also those that wait for a response. Can be called again. */
  close(): Promise<void>;
}

/** Serves `routes` on a free port of the loopback interface only, since the controls require no credential. */
export async function startDemoServer(routes: Routes): Promise<DemoServer> {
  const handlers = new Map(Object.entries(routes).map(([path, methods]) => [path, new Map(Object.entries(methods))]));
  const server = createServer((request, response) => void respond(request, response, handlers));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: ReadonlyMap<string, ReadonlyMap<string, Handler>>,
): Promise<void> {
  const url = URL.parse(String(request.url), 'http://127.0.0.1');
  const methods = url === null ? undefined : handlers.get(url.pathname);
  if (url === null || methods === undefined) return sendError(response, 404, 'There is nothing at this path.');
  const handler = methods.get(request.method === 'HEAD' ? 'GET' : String(request.method));
  if (handler !== undefined) return handler({ request, response, query: url.searchParams });
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  sendError(response, 405, `This path accepts ${allow}.`, { Allow: allow });
}

export function sendJson(response: ServerResponse, status: number, body: object, headers?: OutgoingHttpHeaders): void {
  // The newline keeps a terminal's prompt off the last line that curl shows.
  send(response, status, `${JSON.stringify(body)}\n`, { 'Content-Type': 'application/json', ...headers });
}

/** Sends `message`, which must not repeat anything of the request. */
export function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers?: OutgoingHttpHeaders,
): void {
  sendJson(response, status, { error: { code: status, message } }, headers);
}

export function send(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(text), ...headers });
  response.end(text);
}
