import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { createKeyOf, type KeyOf } from '../../core/credentials/authenticate.ts';
import type { Caller, Credential } from '../../core/kernel/caller.ts';

/** What tells callers apart: all that they bring. */
type Bearer = Pick<Caller, 'credential' | 'accessToken'>;

/**
 * What all replicas of a deployment make alike of what callers bring, by a secret that they share. None of it tells the secret
 * or a token, and nobody without the secret can tell whether it was made of some token.
 */
export interface DeploymentSecret {
  /** Builds keys of callers: the same ones on every replica. */
  readonly keyOf: KeyOf;
  /** Name of something that is this caller's alone: HMAC-SHA-256, base64url. */
  nameOf(what: string, caller: Bearer): string;
  /**
   * The key (32 bytes) by which this caller's own is sealed: HKDF-SHA-256 (RFC 5869) over what the caller brings. Nobody derives
   * it without that. It is kept nowhere: each call derives it anew, in some microseconds.
   */
  sealingKeyOf(caller: Bearer): Buffer;
  /** Seals a text for the other replicas (AES-256-GCM), base64url: nobody else reads it, alters it or makes one. */
  seal(text: string): string;
  /** The text in it; `undefined` where this secret has not sealed it. Never throws. */
  open(sealed: string): string | undefined;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `secret` has at least 32 bytes that nobody can guess. Each use has a key of its own that is derived from it. */
export function createDeploymentSecret(secret: Credential): DeploymentSecret {
  const derive = (use: string) => derived(secret.reveal(), '', `portico ${use}`);
  const naming = derive('names');
  const sealing = derive('sealing');
  const telling = derive('what replicas tell each other');
  return {
    keyOf: createKeyOf(derive('keys of callers')),
    nameOf: (what, caller) =>
      createHmac('sha256', naming)
        .update(JSON.stringify([what, broughtBy(caller)]))
        .digest('base64url'),
    sealingKeyOf: (caller) => derived(broughtBy(caller), sealing, 'portico snapshot'),
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', telling, nonce);
      const sealed = [nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const end = bytes.length - TAG_BYTES;
      if (end < NONCE_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', telling, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(end));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, end));
      try {
        decipher.final();
        return text.toString();
      } catch {
        return undefined;
      }
    },
  };
}

function derived(from: string, salt: string | Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', from, salt, use, SECRET_BYTES));
}

/** No access token holds a space, so that no two callers bring the same text. */
function broughtBy({ credential, accessToken }: Bearer): string {
  return accessToken === undefined ? credential.reveal() : `${accessToken.reveal()} ${credential.reveal()}`;
}
