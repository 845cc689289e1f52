import type { Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import type { buildConnector, Client, Dispatcher } from 'undici';
import type { Connector } from './connector.ts';
import { undici } from './undici.ts';

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
  /**
   * A connection for a request of this caller, with a promise where it has to rest first. Where all are in use, the request
   * waits for one of them.
   */
  lease(callerKey: string): Lease | Promise<Lease>;
  /** Ends them all, and what is in flight with this error. */
  destroy(error: Error): Promise<void>;
}

/** How long connections to an upstream that has sent what it was not asked for are used once only. */
const DISTRUST_MS = 600_000;
/** How long a connection has rested once before it serves another caller than its first. */
const REST_MS = 20;
/**
 * Turns of the event loop after that. One may be half over, the next one looks at all sockets, and then what was found is
 * told.
 */
const REST_TURNS = 3;
/** Turns later on. undici takes another one, in which the event loop looks, before it sends the request. */
const LOOK_TURNS = 1;

interface Connection {
  /** Key of the caller whom it was opened for, where each has its own. */
  readonly owner: string;
  /** Key of the caller whom it has served last. */
  last: string;
  readonly client: Client;
  socket?: Socket | null;
  /** Requests so far, over the socket that it has. */
  served: number;
  /** Requests that are not over for those who sent them. */
  uses: number;
  /** Whether it was opened with what files held that have changed since: it serves no other request. */
  outdated: boolean;
  /** When the last one was over. */
  usedUntil: number;
  /** Whether it has rested. Had anything come meanwhile that was not asked for, it would have been ended. */
  hasRested: boolean;
}

/**
 * Keeps connections open, so that not each request has to open one. A response belongs to a request by its place alone
 * (RFC 9112, section 9.3.1): an upstream that once sends one response too many gives each later request on that connection
 * what another one asked for. So:
 *
 * - A connection on which anything arrives while nothing is asked, or behind a response, is ended: undici does that.
 * - Before a connection serves another caller, the event loop looks for such bytes, however long ago it was used: in that time
 *   this process may have stood still, and have looked for nothing.
 * - The first time, it also rests for a moment: an upstream that is out of step from the first response on is found out by
 *   then.
 * - Whatever waits for its response then on a connection that has served before loses it. For ten minutes each connection to
 *   that upstream serves one request only.
 * - What comes out of step later, and is still on its way when the next request is sent, cannot be told from its response.
 *   Only `perCaller` makes sure that it is then the same caller's.
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
        Object.assign(connection, { socket: result[1], served: connection.uses, hasRested: false });
        callback(...result);
      });
    const client = new undici.Client(origin, {
      connect,
      allowH2,
      // The read's deadline covers both, all pages together.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection: Connection = {
      ...{ owner, last: owner, client },
      ...{ served: 0, uses: 0, outdated: false, usedUntil: 0, hasRested: false },
    };
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
      if (connection.served > connection.uses) drop(connection, new undici.errors.SocketError('not to be trusted'));
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

  function use(connection: Connection): Lease {
    return { dispatcher: connection.client, once: !isTrusted(), release: () => release(connection) };
  }

  function release(connection: Connection): void {
    connection.uses -= 1;
    connection.usedUntil = now();
    if ((connection.outdated || !isTrusted()) && connection.uses === 0) drop(connection);
  }

  function lease(callerKey: string): Lease | Promise<Lease> {
    const connection = find(callerKey);
    const isOthers = connection.last !== callerKey;
    const { hasRested } = connection;
    const isToRest = isOthers && hasServed(connection);
    connection.hasRested ||= isOthers;
    connection.last = callerKey;
    connection.served += 1;
    connection.uses += 1;
    connections.delete(connection);
    connections.add(connection);
    return isToRest ? rest(connection, callerKey, hasRested) : use(connection);
  }

  async function rest(connection: Connection, callerKey: string, hasRested: boolean): Promise<Lease> {
    const restMs = hasRested ? 0 : connection.usedUntil + REST_MS - now();
    if (restMs > 0) await sleep(restMs);
    for (let turns = hasRested ? LOOK_TURNS : REST_TURNS; turns > 0; turns -= 1) await turn();
    if (connections.has(connection) && !connection.outdated) return use(connection);
    release(connection);
    return lease(callerKey);
  }

  return {
    lease,
    async destroy(error) {
      ended = error;
      await Promise.all([...connections].map(({ client }) => client.destroy(error)));
    },
  };
}

function isIdle({ client, uses }: Connection): boolean {
  return uses === 0 && client.stats.size === 0;
}

/** Whether what comes over a connection next could be a response to an earlier request. */
function hasServed(connection: Connection): boolean {
  return connection.served > 0 && connection.socket?.destroyed === false && !isMultiplexed(connection);
}

/** Whether it takes several requests at once: streams of HTTP/2 have names, and do not wait for each other. */
function isMultiplexed({ socket }: Connection): boolean {
  return socket instanceof TLSSocket && socket.alpnProtocol === 'h2';
}

/** Whether undici ended a connection since something came that was not asked for: the upstream itself had not ended it. */
function isUnasked({ socket }: Connection, { code }: Error & { code?: string }): boolean {
  return code === 'UND_ERR_SOCKET' && socket?.readableEnded === false;
}
