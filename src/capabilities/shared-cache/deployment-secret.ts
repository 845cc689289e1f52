import { createHmac, hkdfSync } from 'node:crypto';
import { createKeyOf, type KeyOf } from '../../core/credentials/authenticate.ts';
import type { Caller, Credential } from '../../core/kernel/caller.ts';
import { decrypt, encrypt } from './aes-gcm.ts';

/** All that a caller brings: what distinguishes it from other callers. */
type Bearer = Pick<Caller, 'credential' | 'accessToken'>;

/**
 * Keys and names that all replicas of a deployment derive from a secret they share. None of them reveals the secret or a token, and
 * without the secret they cannot be matched with a token.
 */
export interface DeploymentSecret {
  /** Builds keys of callers: the same on every replica. */
  readonly keyOf: KeyOf;
  /** Returns a name that is unique to a caller: HMAC-SHA-256, base64url. */
  nameOf(what: string, caller: Bearer): string;
  /**
   * Derives the key (32 bytes) that seals a caller's own data: HKDF-SHA-256 (RFC 5869) over what the caller brings, which takes
   * some microseconds. The key is stored nowhere.
   */
  sealingKeyOf(caller: Bearer): Buffer;
  /** Seals a text for the other replicas with AES-256-GCM, base64url. */
  seal(text: string): string;
  /** Opens a text that was sealed with this secret; `undefined` for anything else. Never throws. */
  open(sealed: string): string | undefined;
}

const SECRET_BYTES = 32;

/** `secret` has at least 32 random bytes. Each use has its own derived key. */
export function createDeploymentSecret(secret: Credential): DeploymentSecret {
  const keyFor = (use: string) => derive(secret.reveal(), '', `portico ${use}`);
  const naming = keyFor('names');
  const sealing = keyFor('sealing');
  const announcing = keyFor('announcements 1');
  return {
    keyOf: createKeyOf(keyFor('keys of callers')),
    nameOf: (what, caller) =>
      createHmac('sha256', naming)
        .update(JSON.stringify([what, textOf(caller)]))
        .digest('base64url'),
    sealingKeyOf: (caller) => derive(textOf(caller), sealing, 'portico snapshot'),
    seal: (text) => encrypt(Buffer.from(text), announcing).toString('base64url'),
    open: (sealed) => decrypt(Buffer.from(sealed, 'base64url'), announcing)?.toString(),
  };
}

function derive(from: string, salt: string | Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', from, salt, use, SECRET_BYTES));
}

/** No access token contains a space, so that no two callers have the same text. */
function textOf({ credential, accessToken }: Bearer): string {
  return accessToken === undefined ? credential.reveal() : `${accessToken.reveal()} ${credential.reveal()}`;
}
