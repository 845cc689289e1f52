import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../core/kernel/node-http.ts';

export interface DemoRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

export type DemoHandler = (exchange: DemoRequest) => void | Promise<void>;

/** Handlers by method and path: `GET /v1/tools`. */
export type Routes = Readonly<Record<string, DemoHandler>>;

/** Serves `routes` on a free port of the loopback interface only, since the controls require no credential. */
export async function startDemoServer(routes: Routes) {
  const handlers = new Map(Object.entries(routes));
  const server = createServer((request, response) => void respond(request, response, handlers));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** Origin, without a trailing slash. */
    url: `http://127.0.0.1:${port}`,
    /** Closes every connection at once, also those that wait for a response. Can be called again. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, handlers: ReadonlyMap<string, DemoHandler>) {
  const { pathname = '', searchParams } = URL.parse(String(request.url), 'http://127.0.0.1') ?? {};
  const handler = handlers.get(`${request.method} ${pathname}`);
  if (handler === undefined || searchParams === undefined) return sendError(response, 404, 'There is nothing here.');
  return handler({ request, response, query: searchParams });
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
