import { hash, randomBytes } from 'node:crypto';
import type { Caller, Credential } from '../kernel/caller.ts';
import { readBearer } from './bearer.ts';
import { expiryOf } from './expiry.ts';

/** What is known of a caller by its credential alone. */
export type Identity = Pick<Caller, 'credential' | 'key' | 'partition' | 'expiresAt'>;

/**
 * Finds out who brought these `Authorization` field lines. Throws as {@link readBearer} does.
 */
export type Authenticate = (authorization: readonly string[]) => Promise<Identity>;

/**
 * The one function that builds the keys of callers: SHA-256 over a random key and the credential, base64url. The random
 * key lives as long as the process, so that a key from a log can be neither looked up nor matched with another process's.
 */
export function createAuthenticate(): Authenticate {
  const secret = randomBytes(32).toString('base64url');
  const keyOf = (credential: Credential) => hash('sha256', secret + credential.reveal(), 'base64url');
  return async (authorization) => {
    const credential = readBearer(authorization);
    const key = keyOf(credential);
    return { credential, key, partition: key, expiresAt: expiryOf(credential) };
  };
}
