import {
  ClientClosedError,
  ClientOfflineError,
  type CommandParser,
  createClient,
  createCluster,
  defineScript,
  ErrorReply,
  RESP_TYPES,
  RootNodesUnavailableError,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import type { TlsIdentity } from '../../core/credentials/files/tls-files.ts';

/** Credentials of the ACL user that Portico connects as. */
export interface RedisUser {
  readonly username?: string;
  readonly password?: string;
}

/** TLS options, as `node:tls` takes them. */
export interface RedisTls extends TlsIdentity {
  readonly servername?: string | undefined;
}

export interface RedisClientOptions {
  /** `redis://`, `rediss://` or `unix://`, without a user. */
  readonly url: string;
  /** Whether `url` names one node of a cluster. */
  readonly cluster: boolean;
  readonly connectTimeoutMs: number;
  /** Returns the credentials of the next connection. Never rejects. */
  readonly user: () => Promise<RedisUser>;
  readonly tls: RedisTls | undefined;
  /** Called with each error of a connection. The client reconnects by itself. */
  readonly onError: (error: Error) => void;
}

/** Commands that have no answer yet; more are rejected. */
const MAX_IN_FLIGHT = 10_000;
/** A connection on which nothing moves for so long is closed. */
const IDLE_MS = 10_000;

/** Stores a value and ends the lease in one step, if the lease still has this token. Returns 1 if stored. */
const putLeased = defineScript({
  SCRIPT: `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
return 1`,
  parseCommand(parser: CommandParser, keys: { value: string; lease: string }, token: string, put: Put) {
    parser.pushKeys([keys.value, keys.lease]);
    parser.push(token, `${put.ttlMs}`, put.bytes);
  },
  transformReply: (reply: unknown) => reply === 1,
  NUMBER_OF_KEYS: 2,
});

interface Put {
  readonly bytes: Buffer;
  readonly ttlMs: number;
}

/** Ends the lease, if it still has this token. */
const releaseLease = defineScript({
  SCRIPT: `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`,
  parseCommand(parser: CommandParser, lease: string, token: string) {
    parser.pushKey(lease);
    parser.push(token);
  },
  transformReply: (reply: unknown) => reply,
  NUMBER_OF_KEYS: 1,
});

/** One entry of the stream. */
export interface StreamEntry {
  readonly id: string;
  /** Whatever was stored: only replicas can seal and open messages. */
  readonly message: unknown;
}

/**
 * Adds a message to the stream, unless it is empty, and returns the entries from `after` on, that one included. An empty `after`
 * returns the newest entries. It trims first: Redis lets a script that has written continue when memory is full, and refuses it
 * on a replica, whose data may be old.
 */
const exchange = defineScript({
  SCRIPT: `
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[2])
if ARGV[1] ~= '' then redis.call('XADD', KEYS[1], '*', 'message', ARGV[1]) end
if ARGV[3] ~= '' then return redis.call('XRANGE', KEYS[1], ARGV[3], '+', 'COUNT', ARGV[4]) end
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[4])
local entries = {}
for at = #newest, 1, -1 do entries[#entries + 1] = newest[at] end
return entries`,
  parseCommand(parser: CommandParser, stream: string, exchanged: Exchange) {
    parser.pushKey(stream);
    parser.push(exchanged.message, `${exchanged.keep}`, exchanged.after, `${exchanged.count}`);
  },
  transformReply: (entries: unknown): StreamEntry[] =>
    (entries as [string, string[]][]).map(([id, [, message]]) => ({ id, message })),
  NUMBER_OF_KEYS: 1,
});

interface Exchange {
  readonly message: string;
  /** Entries that the stream keeps, approximately. */
  readonly keep: number;
  readonly after: string;
  /** Entries that are returned at most. */
  readonly count: number;
}

/** Adds to counters that expire together with their window, and returns the total and the rest of the window of each. */
const addToCounters = defineScript({
  SCRIPT: `
local counted = {}
for at, key in ipairs(KEYS) do
  local total = redis.call('INCRBY', key, ARGV[at + 1])
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[1]) end
  counted[at] = { total, redis.call('PTTL', key) }
end
return counted`,
  parseCommand(parser: CommandParser, windowMs: number, units: readonly (readonly [key: string, units: number])[]) {
    parser.pushKeysLength(units.map(([key]) => key));
    parser.push(`${windowMs}`, ...units.map(([, count]) => `${count}`));
  },
  transformReply: (counted: unknown): { total: number; restMs: number }[] =>
    (counted as [number, number][]).map(([total, restMs]) => ({ total, restMs })),
});

const scripts = { putLeased, releaseLease, exchange, addToCounters };

export type RedisClient = ReturnType<typeof createRedisClient>;

/** Opens connections to Redis in the background, and again when they are lost. The only file that imports the package. */
export function createRedisClient({ url, cluster, connectTimeoutMs, user, tls, onError }: RedisClientOptions) {
  const common = {
    credentialsProvider: { type: 'async-credentials-provider' as const, credentials: user },
    socket: { connectTimeout: connectTimeoutMs, socketTimeout: IDLE_MS, ...(tls && { ...tls, tls: true as const }) },
    commandsQueueMaxLength: MAX_IN_FLIGHT,
    disableOfflineQueue: true,
    disableClientInfo: true,
  };
  const own = { RESP: 2 as const, scripts, commandOptions: { timeout: 0 } };
  const client = cluster
    ? createCluster({ ...own, rootNodes: [{ url }], defaults: common })
    : createClient({ ...own, ...common, url });
  client.on('error', onError).on('node-error', onError);
  /** Resolves with the first connection, or when it failed for good. */
  const connected = client.connect().then(
    () => {},
    (error) => {
      if (!isOffline(error)) onError(error);
    },
  );
  const { BLOB_STRING } = RESP_TYPES;
  const bytes = client.withTypeMapping({ [BLOB_STRING]: Buffer });
  return { commands: client, bytes, connected, destroy: () => client.destroy() };
}

/** Why Redis is down. */
export type DownReason = 'unreachable' | 'tls' | 'credential' | 'closed' | 'stalled' | 'replica' | 'full' | 'failing';

const ERROR_REPLIES: Readonly<Record<string, DownReason>> = {
  NOAUTH: 'credential',
  WRONGPASS: 'credential',
  NOPERM: 'credential',
  READONLY: 'replica',
  OOM: 'full',
};
/** Codes of Node for certificates, and for a handshake that failed. */
const TLS_CODES = /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$)/;

/** The reason behind an error of the client, and its code: Node's, or the first word of an error reply. */
export function describeError(error: unknown): { readonly why: DownReason; readonly code?: string | undefined } {
  if (error instanceof ErrorReply) {
    const code = /^[A-Z]{2,20}(?= |$)/.exec(error.message)?.[0];
    return { why: ERROR_REPLIES[code ?? ''] ?? 'failing', code };
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  if (TLS_CODES.test(code)) return { why: 'tls', code };
  if (error instanceof SocketClosedUnexpectedlyError || code === 'ECONNRESET' || code === 'EPIPE') {
    return { why: 'closed' };
  }
  return code === '' ? { why: 'unreachable' } : { why: 'unreachable', code };
}

/** Whether an error says only that there is no connection, and not why. */
export function isOffline(error: unknown): boolean {
  return [ClientOfflineError, ClientClosedError, RootNodesUnavailableError].some((type) => error instanceof type);
}
