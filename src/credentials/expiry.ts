import type { Credential } from '../kernel/caller.ts';

/** Longest claims that are read. */
const MAX_LENGTH = 16_384;

/** Header, claims and signature in base64url (RFC 7515, section 3.1). */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/**
 * When a token ends by its own account, in milliseconds since the epoch: the `exp` of a JWT (RFC 7519, section 4.1.4),
 * not verified. `undefined` for what is no JWT or names no time. Claims too long to be read have ended: nothing is
 * known of them, and this may only shorten.
 */
export function expiryOf(credential: Credential): number | undefined {
  const claims = JWT.exec(credential.reveal())?.[1];
  if (claims === undefined) return undefined;
  if (claims.length > MAX_LENGTH) return 0;
  try {
    const exp: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString())?.exp;
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
