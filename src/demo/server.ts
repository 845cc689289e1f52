import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../core/kernel/node-http.ts';
import { sendError } from './reply.ts';

/** One request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

export type Handler = (exchange: Exchange) => void | Promise<void>;

/** Handlers by path, then by method. Whatever answers `GET` answers `HEAD` too (RFC 9110, section 9.1). */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

export interface DemoServer {
  /** Origin, without a trailing slash. */
  readonly url: string;
  /** Ends every connection at once, also those that wait for an answer. May be called again. */
  close(): Promise<void>;
}

/** Serves `routes` on a free port of the loopback interface, and on no other: there is no credential for the controls. */
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
  if (url === null || methods === undefined) return sendError(response, 404, 'Nothing lives at this path.');
  const handler = methods.get(request.method === 'HEAD' ? 'GET' : String(request.method));
  if (handler !== undefined) return handler({ request, response, query: url.searchParams });
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  sendError(response, 405, `This path answers ${allow}.`, { Allow: allow });
}
