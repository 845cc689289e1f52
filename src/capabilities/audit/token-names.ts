import { createHmac } from 'node:crypto';
import { ConfigError } from '../../core/config/config-error.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { readKeyFile } from '../../core/credentials/files/secret-file.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { createSizedLru } from '../../core/kernel/tables.ts';

/** Returns the name of a caller's token: equal on all replicas that have the same key. */
export type NameToken = (identity: Pick<Identity, 'credential' | 'key'>) => string;

/** Names that are cached: an HMAC takes some microseconds. */
const MAX_NAMES = 10_000;

/** Reads the key file once. Throws `ConfigError` where it holds no usable key. */
export function openTokenNames(path: string): NameToken {
  const read = readKeyFile(path, 'keyFile');
  if (!('issue' in read)) return createTokenNames(read.key);
  throw new ConfigError([{ path: ['audit', read.key ?? 'keyFile'], message: read.issue }]);
}

/** HMAC-SHA-256 of the token, base64url. Without the key, a name cannot be matched with a token. */
export function createTokenNames(auditKey: Credential): NameToken {
  const names = createSizedLru<string, string>({ maxSize: MAX_NAMES });
  return ({ credential, key }) => {
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = createHmac('sha256', auditKey.reveal()).update(credential.reveal()).digest('base64url');
    names.set(key, name);
    return name;
  };
}
