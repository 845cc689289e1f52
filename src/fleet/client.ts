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
}

/** One connection to Redis (one to each node of a cluster): it is not opened again once it is lost. */
export interface Client {
  /** Sends a command that is about the keys that share a hash tag with `key`. Rejects with what Redis or the client says. */
  send(key: string, args: readonly (string | Buffer)[]): Promise<unknown>;
  /** Closes it. Whatever was not answered is rejected. */
  destroy(): void;
}

/**
 * The one home of the package. Loads it, and opens a connection; `onLost` is told, perhaps several times, that it is of no
 * use any more: closed, reset, or out of step. Rejects where it cannot be opened in time.
 *
 * The client is told to give up at once: what it would do by itself (open again, read on behind bytes that it did not
 * understand) might give one command the reply of another.
 */
export async function openClient(options: ClientOptions, onLost: (error: Error) => void): Promise<Client> {
  const { createClient, createCluster, RESP_TYPES } = await import('@redis/client');
  const { url, cluster, connectMs, user, tls } = options;
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
  if (cluster) {
    const { RESP, commandOptions, ...defaults } = common;
    const client = createCluster({ RESP, commandOptions, rootNodes: [{ url }], defaults, maxCommandRedirections: 2 });
    client.on('error', onLost).on('node-error', onLost);
    const send: Client['send'] = (key, args) => client.sendCommand(key, false, [...args]);
    return opened({ send, destroy: () => client.destroy() }, client.connect(), connectMs);
  }
  const client = createClient({ ...common, url });
  client.on('error', onLost);
  const send: Client['send'] = (_, args) => client.sendCommand([...args]);
  return opened({ send, destroy: () => client.destroy() }, client.connect(), connectMs);
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
