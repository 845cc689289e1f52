import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free loopback port and prints the address, by which the bench finds that a server is ready. */
export function listen(handler: RequestListener): void {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => announce(server.address() as AddressInfo));
}

/** One line that names the address; `portico` logs the same key. */
export function announce({ port }: { port: number }): void {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
}
