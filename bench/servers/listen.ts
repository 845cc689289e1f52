import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The list that all servers have: 100 tools of the default upstream contract, about 16 kB. */
export const TOOLS = Array.from({ length: 100 }, (_, index) => ({
  id: `tool-${index}`,
  name: `Tool number ${index}`,
  version: `1.${index}.0`,
  category: 'scanner',
  description: `Finds what it is made to find, the ${index}th of its kind, in hosts and code.`,
}));

/** Listens on a free loopback port and prints the address, by which the bench finds that a server is ready. */
export function listen(handler: RequestListener): void {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1', () => announce(server.address() as AddressInfo));
}

/** Prints one line that names the address; `portico` logs the same key. */
export function announce({ port }: { port: number }): void {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
}
