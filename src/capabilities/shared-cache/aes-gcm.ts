import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = Buffer.alloc(0);

/** Encrypts with AES-256-GCM under a random nonce. `boundTo` is authenticated with it. Returns nonce, ciphertext and tag. */
export function encrypt(plain: Buffer, key: Buffer, boundTo: Buffer = NOTHING): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(boundTo);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encrypt` returned for this key and `boundTo`; `undefined` for anything else. */
export function decrypt(sealed: Buffer, key: Buffer, boundTo: Buffer = NOTHING): Buffer | undefined {
  const end = sealed.length - TAG_BYTES;
  if (end < NONCE_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES)).setAAD(boundTo);
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}
