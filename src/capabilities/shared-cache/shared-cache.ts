import { collectIssues } from '../../core/config/config-error.ts';
import { openSecretFile, readKeyFile } from '../../core/credentials/files/secret-file.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import { openFilesOf } from '../../core/secret-files.ts';
import { type CapabilityContext, defineCapability } from '../capability.ts';
import { createDeploymentSecret } from './deployment-secret.ts';
import type { RedisUser } from './redis-client.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';
import { createSharedCounts } from './shared-counts.ts';
import { type SharedSettings, sharedSettings } from './shared-settings.ts';
import { createSharedSnapshots, type SharedSnapshots } from './shared-snapshots.ts';

/** Replicas that share lists and counters through Redis (docs/deployment.md). */
export const sharedCache = defineCapability({
  settings: {
    key: 'shared',
    schema: sharedSettings.optional().describe('Redis or Valkey that replicas share. Unset: replicas share nothing.'),
    needsRestart: true,
  },
  open(shared, context) {
    if (shared === undefined) return undefined;
    const { limits, events, now } = context;
    const settings = { ...shared, ...limits.shared };
    const { prefix, maxValueBytes, tls: { serverName: servername } = {} } = settings;
    const { user, tls, ...files } = openSharedFiles(shared, context);
    const secret = createDeploymentSecret(files.secret);
    const { keyOf } = secret;
    const channel = `${prefix}:evictions`;
    const redis: RedisConnection = createRedisConnection({
      ...{ ...settings, events, channel, user, tls, servername },
      onMessage: (message) => snapshots.onMessage(message),
    });
    const snapshots: SharedSnapshots = createSharedSnapshots({
      ...{ redis, secret, prefix, channel, maxValueBytes, events, now },
    });
    return {
      sharing: { keyOf, snapshots: snapshots.store, counts: createSharedCounts({ redis, prefix, keyOf }) },
      async start() {
        void redis.open();
      },
      stop: () => redis.close(),
    };
  },
});

/** Opens the files. Throws `ConfigError` with every one that cannot be used. */
export function openSharedFiles(settings: SharedSettings, context: Pick<CapabilityContext, 'events' | 'now'>) {
  const { username, passwordFile, keySecretFile } = settings;
  const block = ['shared'];
  const tlsPaths = settings.tls;
  const [secret, password, tls] = collectIssues([
    () => openFilesOf(block, context, () => readKeyFile(keySecretFile, 'keySecretFile')),
    () => passwordFile && openFilesOf(block, context, (watch) => openSecretFile(passwordFile, watch, 'passwordFile')),
    () => tlsPaths && openFilesOf([...block, 'tls'], context, (watch) => openTlsFiles(tlsPaths, watch)),
  ]);
  return {
    secret,
    /** Returns what the TLS files have now. `undefined`: TLS as the URL says. */
    tls: tls && (() => tls.check().then(() => tls.held)),
    /** Returns the credentials in Redis; the password as its file has it now. Never rejects. */
    async user(): Promise<RedisUser> {
      if (!password) return {};
      await password.check();
      return { ...(username !== undefined && { username }), password: password.held.reveal() };
    },
  };
}
