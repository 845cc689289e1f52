import { Credential } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';

/** `"Bearer" 1*SP b64token` (RFC 6750, section 2.1); the scheme's case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The credential in a request's `Authorization` field lines. Takes all of them: Node keeps the first and drops the
 * others, so that a proxy in front may have judged a different one.
 *
 * Throws `credential_missing` where there is none, `credential_malformed` where it is no bearer token, and
 * `invalid_request` where there are several.
 */
export function readBearer(authorization: readonly string[]): Credential {
  const [value, ...others] = authorization;
  if (value === undefined) throw new GatewayError('credential_missing');
  if (others.length > 0) {
    throw new GatewayError('invalid_request', { detail: 'The request has more than one Authorization header.' });
  }
  const credential = findBearer(value);
  if (credential === undefined) throw new GatewayError('credential_malformed');
  return credential;
}

/** The credential in the value of one `Authorization` header, where that is a bearer token. */
export function findBearer(value: string | undefined): Credential | undefined {
  const token = value === undefined ? undefined : BEARER.exec(value)?.[1];
  return token === undefined ? undefined : new Credential(token);
}
