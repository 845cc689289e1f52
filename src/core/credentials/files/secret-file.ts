import { Credential, HEADER_VALUE } from '../../kernel/caller.ts';
import { openFiles, UnusableFile, type WatchedFiles, type WatchOptions } from './watched-files.ts';

const MAX_BYTES = 16_384;

/** Opens a file with one line. `key` is that of its setting. While it cannot be used, the former secret stays. Throws `UnusableFile`. */
export function openSecretFile(path: string, options: WatchOptions, key = 'file'): WatchedFiles<Credential> {
  return openFiles({
    ...options,
    paths: { [key]: path },
    maxBytes: MAX_BYTES,
    make: ({ [key]: file }) => secretIn(file?.toString('latin1').replace(/\r?\n$/, '') ?? '', key),
  });
}

export interface SecretSettings {
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
}

/** Opens a secret, which is in settings or in a file. Throws `UnusableFile`. */
export function openSecret(
  { secret = '', file }: SecretSettings,
  options: WatchOptions,
  key?: string,
): Pick<WatchedFiles<Credential>, 'current'> {
  if (file !== undefined) return openSecretFile(file, options, key);
  const fixed = new Credential(secret);
  return { current: async () => fixed };
}

/** Shorter ones could be guessed. */
const MIN_KEY_LENGTH = 32;

/** Reads the file of a hashing or sealing key once. `key` is that of its setting. Throws `UnusableFile`. */
export function readKeyFile(path: string, key: string): Credential {
  const { held } = openSecretFile(path, { now: Date.now, onChange: () => {} }, key);
  if (held.reveal().length >= MIN_KEY_LENGTH) return held;
  throw new UnusableFile(key, `must contain at least ${MIN_KEY_LENGTH} characters`);
}

function secretIn(text: string, key: string): Credential {
  if (text === '') throw new UnusableFile(key, 'is empty');
  if (HEADER_VALUE.test(text)) return new Credential(text);
  throw new UnusableFile(key, 'must contain one line of printable ASCII without surrounding white space');
}
