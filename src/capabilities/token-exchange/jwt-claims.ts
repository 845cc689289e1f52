/** Longest claims that are read, in base64url. */
const MAX_CLAIMS = 65_536;

/**
 * What a token says of itself, where it is a JWT whose claims can be read (RFC 7519): not verified. `undefined` for any other,
 * which is opaque.
 */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = '', ...rest] = token.split('.');
  // Header, claims and signature, and no part more (RFC 7515, section 3.1).
  if (rest.length !== 1 || payload.length > MAX_CLAIMS) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
