import {
  ClientClosedError,
  ClientOfflineError,
  createClient,
  createCluster,
  ErrorReply,
  RESP_TYPES,
  RootNodesUnavailableError,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import type { TlsIdentity } from '../../core/credentials/files/tls-files.ts';

export interface RedisUser {
  readonly username?: string;
  readonly password?: string;
}

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
  readonly onError: (error: Error) => void;
}

const MAX_IN_FLIGHT = 10_000;
/** A connection on which nothing moves for so long is closed. */
const IDLE_MS = 10_000;

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
  const own = { RESP: 2 as const, commandOptions: { timeout: 0 } };
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

export type DownReason = 'unreachable' | 'tls' | 'credential' | 'closed' | 'stalled' | 'replica' | 'full' | 'failing';

const ERROR_REPLIES: Readonly<Record<string, DownReason>> = {
  NOAUTH: 'credential',
  WRONGPASS: 'credential',
  NOPERM: 'credential',
  READONLY: 'replica',
  OOM: 'full',
};
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
