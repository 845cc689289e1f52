import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** One request, as far as a fault needs to know it. */
export interface FaultyRequest {
  /** The same server under a name that makes another origin of it. */
  readonly elsewhere: string;
  /** The last segment of its path. */
  readonly resource: string;
  /** Which page it asks for; empty for the first one. */
  readonly pageToken: string;
  /** From 1, since the upstream was last told what to do. */
  readonly number: number;
}

/** What is done with a request. It has the socket to itself. */
export type Fault = (socket: Socket, request: FaultyRequest) => void;

/** A platform that does on the wire whatever it is told: it speaks bytes, and HTTP only as far as the bytes do. */
export interface FaultyUpstream {
  readonly url: string;
  /** Connections that it accepted so far. */
  readonly connections: number;
  /** Requests so far, and connections that its client tried to open in vain. */
  readonly attempts: number;
  /** Does this with each request from now on. `refuses`: takes no connection, and closes those that there are. */
  behave(fault: Fault | 'refuses'): Promise<void>;
  close(): Promise<void>;
}

/** Of what undici tells about a connection that did not open. */
interface ConnectError {
  readonly connectParams: { readonly port: string };
}

/** Listens on loopback. */
export async function startFaultyUpstream(): Promise<FaultyUpstream> {
  const sockets = new Set<Socket>();
  let fault: Fault = (socket) => socket.destroy();
  let connections = 0;
  let attempts = 0;
  let number = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    let head = '';
    socket.setEncoding('latin1').on('data', (bytes: string) => {
      head += bytes;
      if (!head.endsWith('\r\n\r\n')) return;
      const { pathname, searchParams } = new URL(head.split(' ')[1] ?? '', 'http://platform');
      head = '';
      attempts += 1;
      number += 1;
      const resource = pathname.slice(pathname.lastIndexOf('/') + 1);
      fault(socket, {
        elsewhere: `http://localhost:${port}`,
        resource,
        pageToken: searchParams.get('pageToken') ?? '',
        number,
      });
    });
    socket.on('close', () => sockets.delete(socket));
    // A client that resets its connection is nothing to speak of.
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const countFailed = (message: unknown) => {
    if ((message as ConnectError).connectParams.port === String(port)) attempts += 1;
  };
  subscribe('undici:client:connectError', countFailed);

  async function stopListening(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get attempts() {
      return attempts;
    },
    async behave(next) {
      number = 0;
      if (next === 'refuses') return stopListening();
      fault = next;
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async close() {
      unsubscribe('undici:client:connectError', countFailed);
      await stopListening();
    },
  };
}
