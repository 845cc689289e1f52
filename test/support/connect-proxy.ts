import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from './listening.ts';

export type ConnectProxy = Awaited<ReturnType<typeof startConnectProxy>>;

/** A proxy that accepts `CONNECT` by default. */
export async function startConnectProxy(server = createServer()) {
  const asked: IncomingMessage[] = [];
  let fault: ((socket: Socket) => void) | undefined;
  server.on('connect', (request, client: Socket, head: Buffer) => {
    asked.push(request);
    client.on('error', () => {});
    if (fault !== undefined) return fault(client);
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname.replace(/[[\]]/g, ''), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      client.pipe(target).pipe(client);
    });
    target.on('error', () => client.destroy());
    client.on('close', () => target.destroy());
  });
  return {
    ...(await listen(server)),
    asked,
    /** Does this with each from now on; `undefined`: opens the tunnel. */
    behave(next: typeof fault) {
      fault = next;
    },
  };
}
