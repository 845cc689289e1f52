import { ConfigError, type ConfigIssue } from '../../core/config/config-error.ts';
import { openSecretFile, readKeyFile } from '../../core/credentials/files/secret-file.ts';
import { openTlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { RedisTls, RedisUser } from './redis-client.ts';
import type { SharedSettings } from './shared-settings.ts';

/** Contents of the files that settings name. */
export interface SharedFiles {
  /** The current secret of the deployment, and the previous one, if it is still in use. */
  readonly secrets: readonly [Credential, ...Credential[]];
  /** Returns the credentials in Redis; the password as its file has it now. Never rejects. */
  user(): Promise<RedisUser>;
  /** Returns the TLS options as their files have them now. `undefined`: TLS as the URL says. */
  readonly tls: (() => Promise<RedisTls>) | undefined;
}

export interface SharedFilesOptions {
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Opens the files. Throws `ConfigError` with every one that cannot be used. */
export function openSharedFiles(settings: SharedSettings, { events, now }: SharedFilesOptions): SharedFiles {
  const { username, passwordFile, keySecretFile, previousKeySecretFile } = settings;
  const issues: ConfigIssue[] = [];

  function usable<Opened extends object>(opened: Opened | Unusable, block = ['shared']): Opened | undefined {
    if (!('issue' in opened)) return opened;
    issues.push({ path: opened.key === undefined ? block : [...block, opened.key], message: opened.issue });
    return undefined;
  }

  function openPassword(path: string) {
    const onChange = (unusable?: Unusable) => events.secretChanged?.({ block: 'shared', issue: unusable?.issue });
    const opened = openSecretFile(path, { now, onChange });
    if (!('issue' in opened)) return opened;
    usable({ ...opened, key: 'passwordFile' });
    return undefined;
  }

  function openTls(tls: NonNullable<SharedSettings['tls']>) {
    const onChange = (unusable?: Unusable) => events.tlsFilesChanged?.({ block: 'shared.tls', ...unusable });
    const files = usable(openTlsFiles(tls, { now, onChange }), ['shared', 'tls']);
    return async (): Promise<RedisTls> => {
      await files?.check();
      const { cert, key, ca } = files?.held ?? {};
      const servername = tls.serverName;
      return {
        ...(cert && { cert }),
        ...(key && { key }),
        ...(ca && { ca }),
        ...(servername && { servername }),
      };
    };
  }

  const current = usable(readKeyFile(keySecretFile, 'keySecretFile'));
  const previous = previousKeySecretFile && usable(readKeyFile(previousKeySecretFile, 'previousKeySecretFile'));
  const password = passwordFile === undefined ? undefined : openPassword(passwordFile);
  const tls = settings.tls && openTls(settings.tls);
  if (issues.length > 0 || current === undefined) throw new ConfigError(issues);
  return {
    secrets: [current.key, ...(previous ? [previous.key] : [])],
    tls,
    async user() {
      if (password === undefined) return {};
      await password.check();
      return { ...(username !== undefined && { username }), password: password.held.reveal() };
    },
  };
}
