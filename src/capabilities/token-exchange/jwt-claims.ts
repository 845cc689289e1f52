/** Maximum length of claims in base64url. */
const MAX_CLAIMS = 65_536;

/** Returns the unverified claims of a JWT (RFC 7519); `undefined` for opaque tokens. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = '', ...rest] = token.split('.');
  // Exactly header, claims and signature (RFC 7515, section 3.1).
  if (rest.length !== 1 || payload.length > MAX_CLAIMS) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
