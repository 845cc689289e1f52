import { createFileIssues } from '../../core/config/config-error.ts';
import { growth } from '../../core/config/schema/settings.ts';
import { openSecretFile, readKeyFile } from '../../core/credentials/files/secret-file.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import type { Sharing } from '../../core/sharing.ts';
import { type CapabilityContext, defineCapability } from '../capability.ts';
import { type Announcements, createAnnouncements } from './announcements.ts';
import { createDeploymentSecret } from './deployment-secret.ts';
import type { RedisTls, RedisUser } from './redis-client.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';
import { createRedisCounts, createRedisKeys, createRedisStore } from './redis-store.ts';
import { createSharedRejections } from './shared-rejections.ts';
import { type SharedSettings, sharedSettings } from './shared-settings.ts';
import { createSharedSnapshots } from './shared-snapshots.ts';

/** Replicas that share snapshots, rejected credentials and counters through Redis (docs/fleet.md). */
export const sharedCache = defineCapability({
  settings: {
    key: 'shared',
    schema: sharedSettings.optional().describe('Redis or Valkey that replicas share. Unset: replicas share nothing.'),
    needsRestart: true,
  },
  check(_, settings) {
    if (settings !== undefined) openSharedFiles(settings, { events: {}, now: Date.now });
  },
  open(settings, context) {
    if (settings === undefined) return undefined;
    const { connection, sharing } = openSharing(settings, context);
    return {
      sharing,
      async start() {
        connection.open();
      },
      stop: () => connection.close(),
    };
  },
});

/** The bounds, with a lease that lasts for the longest load. */
function boundsFor({ config, limits: { shared } }: CapabilityContext) {
  const longestMs = Math.max(...Object.values(config.upstreams).map(({ timeoutMs }) => timeoutMs));
  return { ...shared, leaseMs: shared.leaseMs * growth(longestMs, 10_000) };
}

function openSharing(shared: SharedSettings, context: CapabilityContext) {
  const { config, events, now } = context;
  const settings = { ...shared, ...boundsFor(context) };
  const files = openSharedFiles(settings, { events, now });
  const [current, ...previous] = files.secrets;
  const secrets = [createDeploymentSecret(current), ...previous.map(createDeploymentSecret)] as const;
  const [{ keyOf, seal }] = secrets;
  const keys = createRedisKeys(settings.prefix);
  const connection: RedisConnection = createRedisConnection({
    ...{ ...settings, events, user: files.user, tls: files.tls },
    heartbeat: (run) => announcements.exchange(run),
  });
  const announcements: Announcements = createAnnouncements({
    ...{ connection, keys, seal, events },
    open: (sealed) => secrets.map(({ open }) => open(sealed)).find((text) => text !== undefined),
  });
  const store = createRedisStore({ ...settings, connection, keys });
  const { maxEntries } = config.cache;
  const sharing: Sharing = {
    keyOf,
    snapshots: createSharedSnapshots({ ...settings, store, secrets, announcements, maxEntries, events, now }),
    rejections: createSharedRejections({ announcements, keyOf, events, now }),
    counts: createRedisCounts({ connection, keys, keyOf }),
    waitMs: settings.waitMs,
  };
  return { connection, sharing };
}

export type SharedFiles = ReturnType<typeof openSharedFiles>;

/** Opens the files. Throws `ConfigError` with every one that cannot be used. */
export function openSharedFiles(settings: SharedSettings, { events, now }: Pick<CapabilityContext, 'events' | 'now'>) {
  const { username, passwordFile, keySecretFile, previousKeySecretFile } = settings;
  const block = ['shared'];
  const watched = {
    now,
    onChange: (unusable?: Unusable) => events.secretChanged?.({ block: 'shared', issue: unusable?.issue }),
  };
  const watchedTls = {
    now,
    onChange: (unusable?: Unusable) => events.tlsFilesChanged?.({ block: 'shared.tls', ...unusable }),
  };
  const { usable, check } = createFileIssues();
  const current = usable(block, readKeyFile(keySecretFile, 'keySecretFile'));
  const previous = previousKeySecretFile && usable(block, readKeyFile(previousKeySecretFile, 'previousKeySecretFile'));
  const password = passwordFile && usable(block, openSecretFile(passwordFile, watched), 'passwordFile');
  const tls = settings.tls && usable([...block, 'tls'], openTlsFiles(settings.tls, watchedTls));
  check();
  return {
    /** The current secret of the deployment, and the previous one, if it is still in use. */
    secrets: [current, previous].flatMap((one) => (one ? one.key : [])) as [Credential, ...Credential[]],
    /** Returns the TLS options as their files have them now. `undefined`: TLS as the URL says. */
    tls:
      tls &&
      (async (): Promise<RedisTls> => {
        await tls.check();
        return { ...tls.held, servername: settings.tls?.serverName };
      }),
    /** Returns the credentials in Redis; the password as its file has it now. Never rejects. */
    async user(): Promise<RedisUser> {
      if (!password) return {};
      await password.check();
      return { ...(username !== undefined && { username }), password: password.held.reveal() };
    },
  };
}
