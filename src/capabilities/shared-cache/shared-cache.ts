import type { Config } from '../../core/config/schema/settings.ts';
import type { KeyOf } from '../../core/credentials/authenticate.ts';
import type { TlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { SharedCounts } from '../../core/kernel/shared-counts.ts';
import type { OwnFiles } from '../../core/own-files.ts';
import type { SnapshotStore } from '../../core/reads/snapshots/snapshot-store.ts';
import type { RejectionStore } from '../../core/upstream/resilience/rejection-store.ts';
import { type Announcements, createAnnouncements } from './announcements.ts';
import { createDeploymentSecret, type DeploymentSecret } from './deployment-secret.ts';
import type { RedisTls } from './redis-client.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';
import { createRedisCounts, createRedisKeys, createRedisStore } from './redis-store.ts';
import { createSharedRejections } from './shared-rejections.ts';
import { createSharedSnapshots } from './shared-snapshots.ts';
import type { StoreFiles } from './store-files.ts';

export interface SharedCacheOptions {
  readonly events: Events;
  readonly files: OwnFiles;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What this process shares with the other replicas of its deployment. */
export interface SharedCache extends Pick<RedisConnection, 'isUp' | 'open' | 'close'> {
  /** Builds keys of callers: the same on all replicas. */
  readonly keyOf: KeyOf;
  readonly snapshots: SnapshotStore;
  readonly rejections: RejectionStore;
  /** `undefined`: each replica counts alone. */
  readonly counts: SharedCounts | undefined;
}

/** Returns `undefined` if settings share nothing, or a file cannot be used. */
export function openSharedCache(config: Config, { events, files, now }: SharedCacheOptions): SharedCache | undefined {
  const { shared } = config;
  const own = files.storeFiles(config);
  const tlsFiles = files.storeTls(config);
  if (shared === undefined || own === undefined) return undefined;
  const secrets = secretsOf(own);
  const [{ keyOf, seal }] = secrets;
  const keys = createRedisKeys(shared.prefix);
  const connection: RedisConnection = createRedisConnection({
    ...shared,
    events,
    user: own.user,
    tls: tlsFiles && (() => readTls(shared.tls, tlsFiles)),
    heartbeat: (run) => announcements.exchange(run),
  });
  const announcements: Announcements = createAnnouncements({
    ...{ connection, keys, seal, events },
    open: (sealed) => openWith(secrets, sealed),
  });
  const store = createRedisStore({ ...shared, connection, keys });
  return {
    get isUp() {
      return connection.isUp;
    },
    open: connection.open,
    close: connection.close,
    keyOf,
    snapshots: createSharedSnapshots({
      ...{ ...shared, store, secrets, announcements, events, now },
      maxEntries: config.cache.maxEntries,
    }),
    rejections: createSharedRejections({ announcements, keyOf, events, now }),
    counts: shared.limits ? createRedisCounts({ connection, keys, keyOf }) : undefined,
  };
}

type Secrets = readonly [DeploymentSecret, ...DeploymentSecret[]];

function secretsOf({ secrets: [current, ...previous] }: StoreFiles): Secrets {
  return [createDeploymentSecret(current), ...previous.map(createDeploymentSecret)];
}

function openWith(secrets: Secrets, sealed: string): string | undefined {
  for (const secret of secrets) {
    const text = secret.open(sealed);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns the TLS options as the files have them now. */
async function readTls(settings: NonNullable<Config['shared']>['tls'], files: TlsFiles): Promise<RedisTls> {
  await files.check();
  const { cert, key, ca } = files.held;
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    ...(ca && { ca }),
    ...(settings?.serverName !== undefined && { servername: settings.serverName }),
    minVersion: settings?.minVersion ?? 'TLSv1.2',
  };
}
