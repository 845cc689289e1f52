import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a relay does with what comes back. */
export type Manner = 'as it is' | 'silent' | 'late' | 'garbage' | 'closed' | 'away';

const LATE_MS = 200;
const GARBAGE = 'HTTP/1.1 400 Bad Request\r\n\r\n';

/** Stands before another port, and behaves as it is told. It is part of the bench's own process. */
export interface Relay {
  readonly port: number;
  behave(manner: Manner): void;
  close(): void;
}

export async function serveRelay(to: number): Promise<Relay> {
  let manner: Manner = 'as it is';
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(to, '127.0.0.1');
    clients.add(client);
    client.on('error', () => {}).on('close', () => clients.delete(client) && behind.destroy());
    behind.on('error', () => {}).on('close', () => client.destroy());
    client.on('data', (bytes) => {
      if (manner === 'as it is' || manner === 'late') behind.write(bytes);
      else if (manner === 'garbage') client.write(GARBAGE);
      else if (manner !== 'silent') client.resetAndDestroy();
    });
    behind.on('data', (bytes) => {
      if (manner === 'late') setTimeout(() => client.writable && client.write(bytes), LATE_MS);
      else client.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const drop = () => {
    for (const client of clients) client.destroy();
  };
  return {
    port,
    behave(next) {
      if (next === 'away') {
        server.close();
        drop();
      } else if (!server.listening) server.listen(port, '127.0.0.1');
      if (next === 'closed') drop();
      manner = next;
    },
    close() {
      server.close();
      drop();
    },
  };
}
