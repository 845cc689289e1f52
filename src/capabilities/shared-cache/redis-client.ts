import { createClient, createCluster, ErrorReply, RESP_TYPES } from '@redis/client';
import type { TlsIdentity } from '../../core/credentials/files/tls-files.ts';

export interface RedisUser {
  readonly username?: string;
  readonly password?: string;
}

export interface RedisClientOptions {
  /** `redis://`, `rediss://` or `unix://`, without a user. */
  readonly url: string;
  /** Whether `url` names one node of a cluster. */
  readonly cluster: boolean;
  readonly connectTimeoutMs: number;
  /** Returns the credentials of the next connection. Never rejects. */
  readonly user: () => Promise<RedisUser>;
  /** @default TLS as the URL says */
  readonly tls?: TlsIdentity | undefined;
  /** Name in the certificate of Redis. @default the host of the URL */
  readonly servername?: string | undefined;
  readonly onReady: () => void;
  readonly onError: (error: Error) => void;
}

const MAX_IN_FLIGHT = 10_000;
/** A connection on which nothing moves for so long, not even the reply to a ping, is closed. */
const IDLE_MS = 5000;
const MAX_RECONNECT_MS = 2000;

/** What replicas do in Redis. Each rejects with an error of the library. */
export type RedisCommands = Omit<RedisClient, 'connect' | 'close' | 'destroy'>;

export type RedisClient = ReturnType<typeof createRedisClient>;

/** Creates a client, which connects when asked, and again when its connection is lost. The only file that imports the package. */
export function createRedisClient(options: RedisClientOptions) {
  const { url, cluster, connectTimeoutMs, user, tls, servername, onReady, onError } = options;
  const common = {
    credentialsProvider: { type: 'async-credentials-provider' as const, credentials: user },
    socket: {
      connectTimeout: connectTimeoutMs,
      socketTimeout: IDLE_MS,
      // The default gives up after a `socketTimeout`.
      reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, MAX_RECONNECT_MS),
      ...(tls && { ...tls, servername, tls: true as const }),
    },
    pingInterval: IDLE_MS / 4,
    commandsQueueMaxLength: MAX_IN_FLIGHT,
    disableOfflineQueue: true,
    disableClientInfo: true,
  };
  const client = cluster ? createCluster({ rootNodes: [{ url }], defaults: common }) : createClient({ ...common, url });
  // A client that is closed while it opens a connection gets ready all the same, and then pings for ever.
  client.on('ready', () => (client.isOpen ? onReady() : client.destroy())).on('node-ready', onReady);
  client.on('error', onError).on('node-error', onError);
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  return {
    /** Resolves with at most so many bytes of a value; empty where there is none. */
    get: (key: string, maxBytes: number): Promise<unknown> => bytes.getRange(key, 0, maxBytes - 1),
    set: (key: string, value: Buffer, ttlMs: number): Promise<unknown> =>
      client.set(key, value, { expiration: { type: 'PX', value: ttlMs } }),
    delete: (key: string): Promise<unknown> => client.del(key),
    publish: (channel: string, message: string): Promise<unknown> => client.publish(channel, message),
    /** Adds to counters in one step. An expiry is set where there is none. Resolves with total and milliseconds left of each. */
    async add(units: readonly (readonly [key: string, units: number])[], ttlMs: number): Promise<[number, number][]> {
      const transaction = client.multi();
      for (const [key, more] of units) transaction.incrBy(key, more).pExpire(key, ttlMs, 'NX').pTTL(key);
      const replies = (await transaction.exec()).map(Number);
      return units.map((_, index) => [replies[3 * index] ?? 0, replies[3 * index + 2] ?? 0]);
    },
    /** Resolves when the client is connected and receives the messages of a channel. */
    async connect(channel: string, onMessage: (message: string) => void): Promise<void> {
      await client.connect();
      await client.subscribe(channel, onMessage);
    },
    close: () => client.close(),
    destroy(): void {
      if (client.isOpen) client.destroy();
    },
  };
}

/** Returns Node's or OpenSSL's code of an error, or the first word of an error reply: `ECONNREFUSED`, `WRONGPASS`. */
export function errorCodeOf(error: unknown): string | undefined {
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}(?= |$)/.exec(error.message)?.[0] ?? 'ERR';
  return (error as NodeJS.ErrnoException).code;
}
