import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { buildConnector, Client } from 'undici';
import { loadUndici } from './connector.ts';

interface ConnectionsOptions {
  readonly origin: string;
  /** Open at once. */
  readonly max: number;
  readonly connect: buildConnector.connector;
}

export interface Lease {
  readonly client: Client;
  release(): void;
}

/** The connections to one upstream. */
export interface UpstreamConnections {
  /** Leases a connection for one request of this caller. */
  lease(callerKey: string): Promise<Lease>;
  /** Ends each connection once its request has ended. No lease may follow. */
  retire(): void;
  destroy(error: Error): Promise<void>;
}

/** How long a connection is idle once before it first serves another caller. */
const SETTLE_MS = 20;

interface Connection {
  readonly client: Client;
  caller: string;
  isBusy: boolean;
  /** Has been idle for {@link SETTLE_MS} after a response. */
  hasSettled: boolean;
  usedAt: number;
}

/**
 * Keeps connections open. A response belongs to a request by its place on the connection alone (RFC 9112, section 9.3.1), so
 * an upstream that sends one response too many would give the next caller what another one requested. undici closes a connection
 * on which anything arrives while no request is under way. So before a connection serves another caller, the event loop reads its
 * socket, and the first time it is idle for a moment (docs/decisions/0017).
 */
export function createUpstreamConnections({ origin, max, connect }: ConnectionsOptions): UpstreamConnections {
  const { Client } = loadUndici();
  /** The least recently used first. */
  const connections = new Set<Connection>();
  let isRetired = false;

  function open(caller: string): Connection {
    // The deadline of the read bounds head and body, all pages together.
    const client = new Client(origin, { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
    const connection = { client, caller, isBusy: false, hasSettled: false, usedAt: 0 };
    client.on('connect', () => {
      connection.hasSettled = false;
    });
    return connection;
  }

  /** The caller's own connection, one that has settled, a new one, or the one that settles first. */
  function find(caller: string): Connection {
    const idle = [...connections].filter(({ isBusy }) => !isBusy);
    const usable = idle.find((each) => each.caller === caller) ?? idle.find((each) => settlesInMs(each) <= 0);
    return usable ?? (connections.size < max ? open(caller) : (idle[0] ?? open(caller)));
  }

  return {
    async lease(caller) {
      const connection = find(caller);
      const isOthers = connection.caller !== caller;
      Object.assign(connection, { caller, isBusy: true });
      connections.delete(connection);
      connections.add(connection);
      if (isOthers && connection.client.stats.connected) await settle(connection);
      return {
        client: connection.client,
        release() {
          Object.assign(connection, { isBusy: false, usedAt: performance.now() });
          if (isRetired) connection.client.destroy();
        },
      };
    },
    retire() {
      isRetired = true;
      for (const { client, isBusy } of connections) if (!isBusy) client.destroy();
    },
    async destroy(error) {
      await Promise.all([...connections].map(({ client }) => client.destroy(error)));
    },
  };
}

function settlesInMs({ hasSettled, usedAt }: Connection): number {
  return hasSettled ? 0 : usedAt + SETTLE_MS - performance.now();
}

async function settle(connection: Connection): Promise<void> {
  const waitMs = settlesInMs(connection);
  if (waitMs > 0) await sleep(waitMs);
  connection.hasSettled = true;
  // This turn of the event loop may be half over. undici waits for the end of the next one, which reads all sockets.
  await turn();
}
