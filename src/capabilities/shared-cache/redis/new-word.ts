import { randomBytes } from 'node:crypto';

/** A word that nobody has used, and nobody can guess. */
export function newWord(): string {
  return randomBytes(12).toString('base64url');
}
