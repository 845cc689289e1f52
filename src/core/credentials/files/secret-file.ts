import { Credential, HEADER_VALUE } from '../../kernel/caller.ts';
import { openFiles, type Unusable, type WatchedFiles, type WatchOptions } from './watched-files.ts';

const MAX_BYTES = 16_384;

/** Opens a file with one line. While it cannot be used, the former secret stays. */
export function openSecretFile(path: string, options: WatchOptions): WatchedFiles<Credential> | Unusable {
  return openFiles({
    ...options,
    paths: { file: path },
    maxBytes: MAX_BYTES,
    make: ({ file }) => secretIn(file?.toString('latin1').replace(/\r?\n$/, '') ?? ''),
  });
}

export interface SecretSettings {
  readonly secret?: string | undefined;
  readonly file?: string | undefined;
}

/** Opens a secret, which is in settings or in a file. */
export function openSecret(
  { secret = '', file }: SecretSettings,
  options: WatchOptions,
): Pick<WatchedFiles<Credential>, 'current'> | Unusable {
  if (file !== undefined) return openSecretFile(file, options);
  const fixed = new Credential(secret);
  return { current: async () => fixed };
}

/** Shorter ones could be guessed. */
const MIN_KEY_LENGTH = 32;

/** Reads the file of a hashing or sealing key once. `key` is that of its setting. */
export function readKeyFile(path: string, key: string): { readonly key: Credential } | Unusable {
  const opened = openSecretFile(path, { now: Date.now, onChange: () => {} });
  if ('issue' in opened) return { ...opened, key };
  if (opened.held.reveal().length >= MIN_KEY_LENGTH) return { key: opened.held };
  return { issue: `must contain at least ${MIN_KEY_LENGTH} characters`, key };
}

function secretIn(text: string): Credential | Unusable {
  if (text === '') return { key: 'file', issue: 'is empty' };
  if (!HEADER_VALUE.test(text))
    return { key: 'file', issue: 'must contain one line of printable ASCII without surrounding white space' };
  return new Credential(text);
}
