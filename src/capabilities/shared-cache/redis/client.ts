import type { RedisClient } from '@redis/client';
import { BadReply, createReplyCheck } from './replies.ts';

/** By what Redis knows Portico (an ACL user). */
export interface RedisUser {
  readonly username?: string;
  readonly password?: string;
}

/** How TLS is spoken, as `node:tls` takes it. */
export interface RedisTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly servername?: string;
}

export interface ClientOptions {
  /** `redis://` or `rediss://`, without a user. */
  readonly url: string;
  /** Whether there are several nodes, of which that is one. */
  readonly cluster: boolean;
  /** How long opening may take, with the handshake. */
  readonly connectMs: number;
  readonly user: RedisUser;
  readonly tls: RedisTls | undefined;
  /** Largest value that is asked for. */
  readonly maxValueBytes: number;
}

/** One connection to Redis (one to each node of a cluster): it is not opened again once it is lost. */
export interface Client {
  /** Sends a command that is about the keys that share a hash tag with `key`. Rejects with what Redis or the client says. */
  send(key: string, args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Closes it. Whatever was not answered is rejected. */
  destroy(): void;
}

/** Whatever comes with a value, or in its place: evictions that were not heard, the slots of a cluster. */
const BESIDE_VALUE_BYTES = 4_194_304;
/** Nodes of a cluster at most. It names them itself: whoever speaks for it has as many connections opened, to wherever it likes. */
const MAX_NODES = 128;

/**
 * The one home of the package. Loads it, and opens a connection; `onLost` is told, perhaps several times, that it is of no
 * use any more: closed, reset, or out of step. Rejects where it cannot be opened in time.
 *
 * The client is told to give up at once: what it would do by itself (open again, read on behind bytes that it did not
 * understand) might give one command the reply of another.
 */
export async function openClient(options: ClientOptions, onLost: (error: Error) => void): Promise<Client> {
  const bad = Promise.withResolvers<never>();
  /** A cluster says in the end no more than that no node is there. */
  let first: Error | undefined;
  // While it opens, the client says so, and waits on.
  const onError = (error: Error) => {
    first ??= error;
    if (error instanceof BadReply) bad.reject(error);
    onLost(error);
  };
  const { url, cluster, connectMs, user, tls, maxValueBytes } = options;
  const { RedisClient, createClient, createCluster, RESP_TYPES } = await import('@redis/client');
  const nodes = createNodes(maxValueBytes + BESIDE_VALUE_BYTES, onError);
  const common = {
    ...user,
    socket: {
      connectTimeout: connectMs,
      reconnectStrategy: false as const,
      ...(tls === undefined ? {} : { ...tls, tls: true as const }),
    },
    disableClientInfo: true,
    // What version 3 adds is not used, and would be more that Redis may send.
    RESP: 2 as const,
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  };
  function openOne(): Opening {
    const client = nodes.madeBy(RedisClient, () => createClient({ ...common, url }));
    client.on('error', onError);
    const send: Client['send'] = (_, args) => client.sendCommand([...args]);
    return { connecting: client.connect(), client: { send, destroy: nodes.destroy } };
  }
  function openCluster(): Opening {
    const { RESP, commandOptions, ...defaults } = common;
    const several = { RESP, commandOptions, rootNodes: [{ url }], defaults, maxCommandRedirections: 2 };
    const client = nodes.madeBy(RedisClient, () => createCluster(several));
    client.on('error', onError).on('node-error', onError);
    const send: Client['send'] = (key, args) => client.sendCommand(key, false, [...args]);
    function destroy(): void {
      client.destroy();
      // It forgets the one that it asks for the others.
      nodes.destroy();
    }
    return { connecting: client.connect(), client: { send, destroy } };
  }
  const { connecting, client } = cluster ? openCluster() : openOne();
  try {
    return await opened(client, Promise.race([connecting, bad.promise]), connectMs);
  } catch (error) {
    throw first ?? error;
  }
}

interface Opening {
  readonly connecting: Promise<unknown>;
  readonly client: Client;
}

/** The clients that the package makes for one connection: of its nodes, where it is one to a cluster. */
interface Nodes {
  /** Has `open` make them, then and later. */
  madeBy<T>(Client: typeof RedisClient, open: () => T): T;
  /** Closes all that are there. */
  destroy(): void;
}

/** A client, whatever it may be asked. */
type Node = ReturnType<ReturnType<typeof RedisClient.factory>>;

/**
 * They take nothing that has not been checked, and are no more than may be. The package has no option for that, and hands out no
 * client of a cluster's nodes: so where it makes one, be it later, that is done here. Clients of others in this process stay as
 * they are. The place is internal to the package, whose version is pinned for that.
 */
function createNodes(maxBytes: number, onTooMany: (error: Error) => void): Nodes {
  const nodes = new Set<Node>();
  let refused: Node | undefined;

  /** Stands for all those that are too many: to make each of them would take a while. */
  function refuse(client: Node): Node {
    const tooMany = new BadReply('too many nodes');
    onTooMany(tooMany);
    client.connect = () => Promise.reject(tooMany);
    return client.setMaxListeners(0);
  }

  function checkReplies(client: Node): void {
    const { decoder } = client._getQueue();
    const check = createReplyCheck({ maxBytes });
    const write = decoder.write.bind(decoder);
    decoder.write = (bytes) => {
      check(bytes);
      write(bytes);
    };
  }

  function keep(client: Node): void {
    nodes.add(client);
    const destroy = client.destroy.bind(client);
    client.destroy = () => {
      nodes.delete(client);
      destroy();
    };
    // One that was destroyed while it opened would stay open, and nobody would know of it.
    client.on('connect', () => {
      if (!nodes.has(client)) destroy();
    });
  }

  return {
    madeBy(Client, open) {
      const { factory } = Client;
      const bounded: typeof factory = (config) => {
        const create = factory(config);
        return (options) => {
          if (nodes.size === MAX_NODES) {
            refused ??= refuse(create(options) as Node);
            return refused as typeof client;
          }
          const client = create(options);
          checkReplies(client as Node);
          keep(client as Node);
          return client;
        };
      };
      Client.factory = bounded;
      try {
        return open();
      } finally {
        Client.factory = factory;
      }
    },
    destroy() {
      for (const node of nodes) node.destroy();
    },
  };
}

/** A handshake that nobody answers has no end of its own. */
async function opened(client: Client, connecting: Promise<unknown>, connectMs: number): Promise<Client> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('not opened in time')), connectMs);
  });
  try {
    await Promise.race([connecting, late]);
    return client;
  } catch (error) {
    client.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
