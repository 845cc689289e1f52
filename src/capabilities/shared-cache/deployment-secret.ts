import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { createKeyOf } from '../../core/credentials/authenticate.ts';
import type { Caller, Credential } from '../../core/kernel/caller.ts';

/** All that a caller brings: what distinguishes it from other callers. */
type Bearer = Pick<Caller, 'credential' | 'accessToken' | 'sentValues'>;

const SECRET_BYTES = 32;

export type DeploymentSecret = ReturnType<typeof createDeploymentSecret>;

/**
 * Keys and names that all replicas of a deployment derive from a secret they share, of at least 32 random bytes. None of them reveals
 * the secret or a token, and without the secret they cannot be matched with a token. Each use has its own derived key.
 */
export function createDeploymentSecret(secret: Credential) {
  const keyFor = (use: string) => derive(secret.reveal(), '', `portico ${use}`);
  const naming = keyFor('names');
  const sealing = keyFor('sealing');
  const publishing = keyFor('messages');
  return {
    keyOf: createKeyOf(keyFor('keys of callers')),
    /** Returns a name that is unique to a caller: HMAC-SHA-256, base64url. */
    nameOf: (what: readonly string[], caller: Bearer) =>
      createHmac('sha256', naming)
        .update(JSON.stringify([...what, textOf(caller)]))
        .digest('base64url'),
    /** Derives the key that seals a caller's own data (HKDF-SHA-256, RFC 5869), in some microseconds. It is stored nowhere. */
    sealingKeyOf: (caller: Bearer) => derive(textOf(caller), sealing, 'portico snapshot'),
    /** Seals a text for the other replicas, base64url. */
    seal: (text: string) => encrypt(Buffer.from(text), publishing).toString('base64url'),
    /** Opens a text that was sealed with this secret; `undefined` for anything else. */
    open: (sealed: string) => decrypt(Buffer.from(sealed, 'base64url'), publishing)?.toString(),
  };
}

function derive(from: string, salt: string | Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', from, salt, use, SECRET_BYTES));
}

/** No two callers have the same text. */
function textOf({ credential, accessToken, sentValues }: Bearer): string {
  return JSON.stringify([credential.reveal(), accessToken?.reveal() ?? null, sentValues ?? null]);
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts under a random nonce. `boundTo` is authenticated with it. Returns nonce, ciphertext and tag. */
export function encrypt(plain: Buffer, key: Buffer, boundTo = ''): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(boundTo));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encrypt` returned for this key and `boundTo`; `undefined` for anything else. */
export function decrypt(sealed: Buffer, key: Buffer, boundTo = ''): Buffer | undefined {
  const end = sealed.length - TAG_BYTES;
  if (end < NONCE_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined;
  }
}
