import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 10_000;

/** A loopback port that nothing listens on now, for servers that do not print their address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves once something accepts connections there; rejects where nothing does for 10 s. */
export async function accepting(port: number): Promise<void> {
  const end = performance.now() + WAIT_MS;
  while (performance.now() < end) {
    const socket = connect(port, '127.0.0.1');
    const accepted = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (accepted) return;
    await sleep(5);
  }
  throw new Error(`nothing listens on port ${port}`);
}
