/**
 * Whether an endpoint of an issuer's metadata may be sent tokens and secrets: it uses TLS, or is on the issuer's own host. With TLS
 * the hosts may differ, as they do at large issuers (RFC 8414, section 2).
 */
export function isTrustedEndpoint(endpoint: unknown, issuer: string): endpoint is string {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  const known = new URL(issuer);
  return protocol === 'https:' || (protocol === known.protocol && hostname === known.hostname);
}
