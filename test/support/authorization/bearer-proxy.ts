import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import { pipeline } from 'node:stream';
import { listen } from '../listening.ts';

export interface Passed {
  sent: string;
  status: number;
  headers: IncomingHttpHeaders;
  response: string;
}

export type BearerProxy = Awaited<ReturnType<typeof startBearerProxy>>;

/**
 * A proxy on loopback for clients that cannot send a credential of their own: it adds `Authorization: Bearer <token>` to each
 * request and passes on all else as it came, `Host` included, as a proxy does that a browser cannot tell from the server.
 */
export async function startBearerProxy(token: string) {
  const passed: Passed[] = [];
  let target: URL | undefined;
  const server = createServer((request, response) => {
    if (target === undefined) throw new Error('nothing to lead to yet');
    const { hostname, port } = target;
    const one: Passed = { sent: '', status: 0, headers: {}, response: '' };
    passed.push(one);
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = send({ hostname, port, method: request.method, path: request.url, headers }, (incoming) => {
      one.status = incoming.statusCode ?? 0;
      one.headers = incoming.headers;
      incoming.on('data', (chunk: Buffer) => {
        one.response += chunk;
      });
      response.writeHead(one.status, incoming.headers);
      // Either side may leave an event stream when it has seen enough.
      pipeline(incoming, response, () => {});
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.on('data', (chunk: Buffer) => {
      one.sent += chunk;
    });
    pipeline(request, onward, () => {});
  });
  const { port, close } = await listen(server);
  return {
    host: `127.0.0.1:${port}`,
    /** All that went through so far, in the order of arrival. */
    passed: passed as readonly Readonly<Passed>[],
    /** Sets the server behind it. */
    lead(url: string) {
      target = new URL(url);
    },
    close,
  };
}
