import type { Challenge, GatewayError } from '../../kernel/errors.ts';
import type { WholeResponse } from './http-response.ts';

/** `Allow` for errors that name no methods: those of a read. */
const ALLOW = 'GET, HEAD';

/** Where clients can obtain tokens (RFC 9728). */
export interface TokenSource {
  readonly metadataUrl: string;
  /** Scopes that a client should request. */
  readonly scopes: readonly string[];
}

/** Characters that an `error_description` must not contain (RFC 6750, section 3). */
const UNQUOTABLE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * Returns challenges of RFC 6750, section 3. A request without a credential gets no `error`. With a `source`, each 401 names
 * it and its scopes, and so does each 403 for which another token would do.
 */
export function createChallenge(source?: TokenSource): Challenge {
  const tokensFor = (scopes: readonly string[] = []) => [
    ...(scopes.length === 0 ? [] : [parameter('scope', scopes.join(' '))]),
    ...(source === undefined ? [] : [parameter('resource_metadata', source.metadataUrl)]),
  ];

  return ({ code, detail, scopes }) => {
    switch (code) {
      case 'credential_missing':
        return bearer(tokensFor(source?.scopes));
      case 'credential_malformed':
      case 'credential_rejected': {
        const description = parameter('error_description', detail.replace(UNQUOTABLE, "'"));
        return bearer([parameter('error', 'invalid_token'), description, ...tokensFor(source?.scopes)]);
      }
      case 'access_denied': {
        const error = parameter('error', 'insufficient_scope');
        // Where a platform does not name its scopes, signing in again would change nothing.
        return bearer([error, ...(scopes === undefined ? [] : tokensFor(scopes))]);
      }
      default:
        return undefined;
    }
  };
}

function bearer(parameters: readonly string[]): string {
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
}

function parameter(name: string, value: string): string {
  return `${name}="${value}"`;
}

const PLAIN_CHALLENGE = createChallenge();

/** Returns the problem (RFC 9457) of an error: its row of the table and its `detail`, never its `reason`, cause or stack. */
export function problemResponse(
  error: GatewayError,
  requestId: string,
  challenge: Challenge = PLAIN_CHALLENGE,
): WholeResponse {
  const { code, title, status, detail, upstream, retryAfterSeconds, allow = ALLOW } = error;
  const challenged = challenge(error);
  const headers = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(challenged !== undefined && { 'WWW-Authenticate': challenged }),
    ...(code === 'method_not_allowed' && { Allow: allow }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  };
  const body = {
    type: `urn:portico:error:${code}`,
    title,
    status,
    detail,
    instance: `urn:portico:request:${requestId}`,
    code,
    requestId,
    upstream,
    retryAfterSeconds,
  };
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}
