import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onCleanup } from './cleanup.ts';

/**
 * Below the ports that systems give to clients. Each process takes a block of its own for its life, by listening on its first
 * port, and gives out the rest in turn: no other process, of this run or of one beside it, takes the port of a server that is
 * down for a while or about to start.
 */
const PORTS = { from: 20_000, block: 400, blocks: 30 };
const firstPort = await takeBlock();
let turn = 0;

async function takeBlock(): Promise<number> {
  for (let block = 0; block < PORTS.blocks; block += 1) {
    const port = PORTS.from + block * PORTS.block;
    const guard = createServer().unref();
    if (await bind(guard, port)) return port;
  }
  throw new Error(`all ports from ${PORTS.from} are taken`);
}

/** The next port in turn, for programs that report when it is taken. */
export function nextPort(): number {
  turn = (turn % (PORTS.block - 1)) + 1;
  return firstPort + turn;
}

/** A server on a port of loopback. */
export interface Listening {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  connections(): number;
  open(): number;
  /** Stops listening and closes all connections. */
  refuse(): Promise<void>;
  /** Accepts again, on the same port. */
  accept(): Promise<void>;
  /** Stops listening for good, at the latest with the test. */
  close(): Promise<void>;
}

/** Has a server of `node:net`, `node:http` or `node:https` listen. */
export async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  while (!(await bind(server, nextPort()))) {}
  const { port } = server.address() as AddressInfo;

  async function refuse(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const ended = onCleanup(refuse);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    open: () => sockets.size,
    refuse,
    async accept() {
      if (server.listening) return;
      if (!(await bind(server, port))) throw new Error(`port ${port} is taken`);
    },
    async close() {
      ended();
      await refuse();
    },
  };
}

async function bind(server: Server, port: number): Promise<boolean> {
  server.listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );
}

/** A free port of loopback, for programs that cannot choose and report one. */
export async function freePort(): Promise<number> {
  const { port, close } = await listen(createServer());
  await close();
  return port;
}
