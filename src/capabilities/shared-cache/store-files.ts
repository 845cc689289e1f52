import { openSecretFile, readKeyFile } from '../../core/credentials/files/secret-file.ts';
import type { Unusable, WatchOptions } from '../../core/credentials/files/watched-files.ts';
import type { Credential } from '../../core/kernel/caller.ts';

/** By what a store that replicas share knows Portico, and by what that knows what is in it. */
export interface StoreSettings {
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly keySecretFile: string;
  readonly previousKeySecretFile?: string | undefined;
}

/** What those files hold. */
export interface StoreFiles {
  /** The secret of the deployment, and the one before it, if that is still in use. */
  readonly secrets: readonly [Credential, ...Credential[]];
  /** The user, with the password as it stands now. Never rejects. */
  user(): Promise<{ readonly username?: string; readonly password?: string }>;
}

/** Reads these files, and says which of them cannot be used, and why. The password is read anew when it has changed. */
export function openStoreFiles(settings: StoreSettings, options: WatchOptions): StoreFiles | Unusable {
  const { username, passwordFile, keySecretFile, previousKeySecretFile } = settings;
  const current = readKeyFile(keySecretFile, 'keySecretFile');
  if ('issue' in current) return current;
  const before = previousKeySecretFile && readKeyFile(previousKeySecretFile, 'previousKeySecretFile');
  if (typeof before === 'object' && 'issue' in before) return before;
  const secrets = [current.key, ...(typeof before === 'object' ? [before.key] : [])] as const;
  if (passwordFile === undefined) return { secrets, user: async () => ({}) };
  const password = openSecretFile(passwordFile, options);
  if ('issue' in password) return { ...password, key: 'passwordFile' };
  return {
    secrets,
    async user() {
      await password.check();
      return { ...(username === undefined ? {} : { username }), password: password.held.reveal() };
    },
  };
}
