import type { Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { GatewayError } from '../../kernel/errors.ts';
import { loadUndici } from './connector.ts';

/** Which callers an open connection may serve next: all of them, or only the one that it has served before. */
export type KeptConnections = 'shared' | 'perCaller';

export interface ConnectionsOptions {
  readonly origin: string;
  /** Open at once. The one that was used least recently makes room. */
  readonly max: number;
  readonly kept: KeptConnections;
  readonly allowH2: boolean;
  readonly connect: buildConnector.connector;
  readonly onUnsolicited: () => void;
  readonly now: () => number;
}

export interface Lease {
  readonly dispatcher: Dispatcher;
  /** Whether the connection must serve no other request (`Connection: close`). */
  readonly once: boolean;
  release(): void;
}

/** The connections to one upstream. */
export interface Connections {
  /** Leases a connection for a request of this caller. If all are in use, the request waits for one in undici. */
  lease(callerKey: string): Promise<Lease>;
  /** Opens connections with `connect` from now on. Requests under way are finished, on connections that serve no other. */
  renew(connect: buildConnector.connector): void;
  destroy(error: Error): Promise<void>;
}

/** How long each connection serves one request only after the upstream has sent unsolicited bytes. */
const QUARANTINE_MS = 600_000;
/** How long a connection is idle once before it first serves another caller. */
const SETTLE_MS = 20;
/** Turns of the event loop after that: the current one may be half over, the next reads all sockets, then undici reports. */
const SETTLE_TURNS = 3;
/** Turns before each later change of caller. undici adds one before it sends the request. */
const CHECK_TURNS = 1;

interface Connection {
  readonly client: Client;
  caller: string;
  socket: Socket | null;
  isOutdated: boolean;
  hasServed: boolean;
  hasSettled: boolean;
  running: number;
  usedAt: number;
}

/**
 * Keeps connections open. A response belongs to a request by its place on the connection alone (RFC 9112, section 9.3.1), so
 * an upstream that sends one response too many would give later callers what others requested. Therefore:
 *
 * - undici closes a connection on which anything arrives while no request is under way, or behind a response.
 * - Before a connection serves another caller, the event loop reads its socket: this process may have been stopped since.
 * - The first time, the connection also settles for a moment, which exposes an upstream that doubles its first response.
 * - Unsolicited bytes put the upstream in quarantine: connections that have served before are closed, and new ones serve one
 *   request each.
 *
 * Bytes that arrive later, while the next request is under way, cannot be distinguished from its response. With `perCaller` they are
 * still the same caller's (docs/decisions/0017).
 */
export function createConnections(options: ConnectionsOptions): Connections {
  const { origin, max, kept, allowH2, onUnsolicited, now } = options;
  const { Client } = loadUndici();
  /** The least recently used first. */
  const connections = new Set<Connection>();
  let { connect } = options;
  let trustedFrom = Number.NEGATIVE_INFINITY;
  let ended: Error | undefined;

  const isTrusted = () => now() >= trustedFrom;

  function open(caller: string): Connection {
    const connectNow: typeof connect = (target, callback) =>
      connect(target, (...result) => {
        Object.assign(connection, { socket: result[1], hasServed: false, hasSettled: false });
        callback(...result);
      });
    // The deadline of the read bounds head and body, all pages together.
    const client = new Client(origin, { connect: connectNow, allowH2, headersTimeout: 0, bodyTimeout: 0 });
    const connection: Connection = {
      ...{ client, caller, socket: null, isOutdated: false },
      ...{ hasServed: false, hasSettled: false, running: 0, usedAt: 0 },
    };
    if (ended !== undefined) client.destroy(ended);
    client.on('disconnect', (_origin, _targets, error) => {
      if (isUnsolicited(connection, error)) quarantine();
    });
    return connection;
  }

  function drop(connection: Connection, error: Error | null = null): void {
    connections.delete(connection);
    connection.client.destroy(error);
  }

  function quarantine(): void {
    if (isTrusted()) onUnsolicited();
    trustedFrom = now() + QUARANTINE_MS;
    const reason = 'the connection was closed: the upstream sends unsolicited bytes';
    for (const connection of connections) {
      if (connection.hasServed)
        drop(connection, new GatewayError('upstream_failed', { reason, retryable: 'reset', countsForBreaker: true }));
    }
  }

  function find(caller: string): Connection {
    const all = [...connections];
    const own = kept === 'shared' ? all : all.filter((each) => each.caller === caller);
    const isFree = (each: Connection) => !each.isOutdated && (isIdle(each) || isMultiplexed(each));
    // The least recently used one has had most time to show unsolicited bytes.
    const best = own.find((each) => each.caller === caller && isFree(each)) ?? own.find(isFree);
    if (best !== undefined && isTrusted()) return best;
    if (all.length < max) return open(caller);
    const idle = all.find(isIdle) ?? all.find(({ running }) => running === 0);
    // The bulkhead has as many slots as there may be connections, so that requests do not wait here.
    if (idle === undefined && own.length > 0) return own.reduce((one, two) => (two.running < one.running ? two : one));
    if (idle !== undefined) drop(idle);
    return open(caller);
  }

  async function settle(connection: Connection): Promise<void> {
    const waitMs = connection.hasSettled ? 0 : connection.usedAt + SETTLE_MS - now();
    const turns = connection.hasSettled ? CHECK_TURNS : SETTLE_TURNS;
    connection.hasSettled = true;
    if (waitMs > 0) await sleep(waitMs);
    for (let turned = 0; turned < turns; turned += 1) await turn();
  }

  function release(connection: Connection): void {
    connection.running -= 1;
    connection.hasServed = true;
    connection.usedAt = now();
    if (connection.running === 0 && (connection.isOutdated || !isTrusted())) drop(connection);
  }

  return {
    async lease(caller) {
      for (;;) {
        const connection = find(caller);
        const isOthers = connection.caller !== caller && connection.hasServed && !isMultiplexed(connection);
        connection.caller = caller;
        connection.running += 1;
        connections.delete(connection);
        connections.add(connection);
        if (isOthers && connection.client.stats.connected) await settle(connection);
        if (connections.has(connection) && !connection.isOutdated) {
          return { dispatcher: connection.client, once: !isTrusted(), release: () => release(connection) };
        }
        release(connection);
      }
    },
    renew(next) {
      connect = next;
      for (const connection of connections) {
        connection.isOutdated = true;
        if (connection.running === 0) drop(connection);
      }
    },
    async destroy(error) {
      ended = error;
      await Promise.all([...connections].map(({ client }) => client.destroy(error)));
    },
  };
}

function isIdle({ client, running }: Connection): boolean {
  return running === 0 && client.stats.size === 0;
}

/** Whether a connection carries several requests at once: streams of HTTP/2 are numbered. */
function isMultiplexed({ socket }: Connection): boolean {
  return (socket as TLSSocket | null)?.alpnProtocol === 'h2';
}

/** Whether undici closed a connection because of unsolicited bytes: the upstream itself had not closed it. */
function isUnsolicited({ socket }: Connection, { code }: Error & { code?: string }): boolean {
  return code === 'UND_ERR_SOCKET' && socket?.readableEnded === false;
}
