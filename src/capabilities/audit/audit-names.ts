import { createHmac } from 'node:crypto';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { readKeyFile } from '../../core/credentials/files/secret-file.ts';
import type { Unusable } from '../../core/credentials/files/watched-files.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { createSizedLru } from '../../core/kernel/tables/sized-lru.ts';

/** Names the token of a caller: the same on every replica that has the same key. */
export type NameToken = (identity: Pick<Identity, 'credential' | 'key'>) => string;

/** Callers whose name is remembered: an HMAC takes some microseconds. */
const MAX_NAMES = 10_000;

/** Reads the file of the key, once, and says why where that gives none. */
export function openAuditNames(path: string): NameToken | Unusable {
  const read = readKeyFile(path, 'keyFile');
  return 'issue' in read ? read : createAuditNames(read.key);
}

/** HMAC-SHA-256 of the token, base64url: nobody without the key can tell whether a token is the one that a name stands for. */
export function createAuditNames(auditKey: Credential): NameToken {
  const names = createSizedLru<string, string>({ maxSize: MAX_NAMES, sizeOf: () => 1 });
  return ({ credential, key }) => {
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = createHmac('sha256', auditKey.reveal()).update(credential.reveal()).digest('base64url');
    names.set(key, name);
    return name;
  };
}
