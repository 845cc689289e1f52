import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import type { Connector } from './connector.ts';

/** Who may be served next over a connection that is kept open: anybody, or only the caller whom it has served before. */
export type KeptConnections = 'shared' | 'perCaller';

export interface ConnectionsOptions {
  readonly origin: string;
  /** Open at once; the one that was used longest ago makes room. */
  readonly max: number;
  readonly kept: KeptConnections;
  readonly allowH2: boolean;
  readonly connector: Connector;
  /** Called when the upstream has sent what it was not asked for. */
  readonly onUnasked: () => void;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** A connection for one request. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  /** Whether the connection is to serve no other request (`Connection: close`). */
  readonly once: boolean;
  /** Call it once the request is over for whoever sent it, however it ended. */
  release(): void;
}

/** The connections to one upstream. */
export interface Connections {
  /** A connection for a request of this caller. Where all are in use, the request waits for one of them. */
  lease(callerKey: string): Lease;
  /** Ends them all, and what is in flight with this error. */
  destroy(error: Error): Promise<void>;
}

/** How long connections to an upstream that has sent what it was not asked for are used once only. */
const DISTRUST_MS = 600_000;

interface Connection {
  /** Key of the caller whom it was opened for, where each has its own. */
  readonly owner: string;
  /** Key of the caller whom it has served last. */
  last: string;
  readonly client: Client;
  socket?: Socket | null;
  /** Requests so far. */
  served: number;
  /** Requests that are not over for those who sent them. */
  uses: number;
  /** Whether it was opened with what files held that have changed since: it serves no other request. */
  outdated: boolean;
}

/**
 * Keeps connections open, so that not each request has to open one. A response belongs to a request by its place alone
 * (RFC 9112, section 9.3.1): an upstream that once sends one response too many gives each later request on that connection
 * what another one asked for. So:
 *
 * - A connection on which anything arrives while nothing is asked, or behind a response, is ended. undici does that, and lets
 *   the event loop look for such bytes before each request.
 * - Whatever waits for its response then on a connection that has served before loses it. For ten minutes each connection to
 *   that upstream serves one request only.
 * - What is still on its way when the next request is sent cannot be told from its response. Only `perCaller` makes sure
 *   that it is then the same caller's.
 */
export function createConnections(options: ConnectionsOptions): Connections {
  const { origin, max, kept, allowH2, connector, onUnasked, now } = options;
  /** The one that was used longest ago first. */
  const connections = new Set<Connection>();
  let trustedFrom = Number.NEGATIVE_INFINITY;
  let { identity } = connector;
  let ended: Error | undefined;

  const isTrusted = () => now() >= trustedFrom;

  function open(owner: string): Connection {
    const connect: buildConnector.connector = (target, callback) =>
      connector.connect(target, (...result) => {
        connection.socket = result[1];
        callback(...result);
      });
    const client = new Client(origin, {
      connect,
      allowH2,
      // The read's deadline covers both, all pages together.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection: Connection = { owner, last: owner, client, served: 0, uses: 0, outdated: false };
    if (ended !== undefined) client.destroy(ended);
    client.on('disconnect', (_origin, _targets, error) => {
      if (isUnasked(connection, error)) distrust();
    });
    return connection;
  }

  function drop(connection: Connection, error: Error | null = null): void {
    connections.delete(connection);
    connection.client.destroy(error);
  }

  function distrust(): void {
    if (isTrusted()) onUnasked();
    trustedFrom = now() + DISTRUST_MS;
    for (const connection of connections) {
      if (connection.served > connection.uses) drop(connection, new errors.SocketError('not to be trusted'));
    }
  }

  /** What files held when connections were opened was right then: what is under way goes on, nothing else. */
  function retireOutdated(): void {
    connector.checkFiles();
    if (identity === connector.identity) return;
    identity = connector.identity;
    for (const connection of connections) {
      if (connection.uses === 0) drop(connection);
      connection.outdated = true;
    }
  }

  function find(callerKey: string): Connection {
    retireOutdated();
    const owner = kept === 'perCaller' ? callerKey : '';
    const all = [...connections];
    const own = all.filter((each) => each.owner === owner);
    const free = own.filter((each) => !each.outdated && (isIdle(each) || isMultiplexed(each)));
    // The one that was used longest ago has had most time to show that it is out of step.
    const best = free.find(({ last }) => last === callerKey) ?? free[0];
    if (best !== undefined && isTrusted()) return best;
    if (all.length < max) return open(owner);
    const idle = all.find(isIdle);
    // What is left of a body that nobody needs is being read: that is soon over, and undici lets the request wait for it.
    const ending = own.find(({ uses }) => uses === 0);
    if (idle === undefined && ending !== undefined && isTrusted()) return ending;
    const oldest = idle ?? all.find(({ uses }) => uses === 0);
    if (oldest !== undefined) drop(oldest);
    // Nobody comes here through a bulkhead with as many slots as there may be connections.
    else if (own.length > 0) return own.reduce((least, each) => (each.uses < least.uses ? each : least));
    return open(owner);
  }

  return {
    lease(callerKey) {
      const connection = find(callerKey);
      connection.last = callerKey;
      connection.served += 1;
      connection.uses += 1;
      connections.delete(connection);
      connections.add(connection);
      return {
        dispatcher: connection.client,
        once: !isTrusted(),
        release() {
          connection.uses -= 1;
          if ((connection.outdated || !isTrusted()) && connection.uses === 0) drop(connection);
        },
      };
    },
    async destroy(error) {
      ended = error;
      await Promise.all([...connections].map(({ client }) => client.destroy(error)));
    },
  };
}

function isIdle({ client, uses }: Connection): boolean {
  return uses === 0 && client.stats.size === 0;
}

/** Whether it takes several requests at once: streams of HTTP/2 have names, and do not wait for each other. */
function isMultiplexed({ socket }: Connection): boolean {
  return socket instanceof TLSSocket && socket.alpnProtocol === 'h2';
}

/** Whether undici ended a connection since something came that was not asked for: the upstream itself had not ended it. */
function isUnasked({ socket }: Connection, { code }: Error & { code?: string }): boolean {
  return code === 'UND_ERR_SOCKET' && socket?.readableEnded === false;
}
