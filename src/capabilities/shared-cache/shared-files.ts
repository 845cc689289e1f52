import { createFileIssues } from '../../core/config/config-error.ts';
import { openSecretFile, readKeyFile } from '../../core/credentials/files/secret-file.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import type { CapabilityContext } from '../capability.ts';
import type { RedisTls, RedisUser } from './redis-client.ts';
import type { SharedSettings } from './shared-settings.ts';

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
