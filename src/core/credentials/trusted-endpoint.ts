/**
 * Whether what an issuer's metadata give as an endpoint is a URL with TLS, or on the very host of the issuer: a token or a
 * secret is sent there. Hosts may differ with TLS, as they do at large issuers (RFC 8414, section 2).
 */
export function isTrustedEndpoint(endpoint: unknown, issuer: string): endpoint is string {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  const known = new URL(issuer);
  return protocol === 'https:' || (protocol === known.protocol && hostname === known.hostname);
}
