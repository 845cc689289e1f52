import { hash, randomBytes } from 'node:crypto';
import type { Credential } from '../kernel/caller.ts';

/** Names the partition that a credential belongs to. */
export type Partitioner = (credential: Credential) => string;

/**
 * The one function that builds partition keys: SHA-256 over a random key and the credential, base64url. The random key
 * lives as long as the process, so that a partition from a log can be neither looked up nor matched with another
 * process's.
 */
export function createPartitioner(): Partitioner {
  const key = randomBytes(32).toString('base64url');
  return (credential) => hash('sha256', key + credential.reveal(), 'base64url');
}
