import { ERRORS, type ErrorCode, type GatewayError } from '../../kernel/errors.ts';
import type { HttpResponse } from './send.ts';

/** What `Allow` says where no path knows better: the methods of a read. */
const ALLOW = 'GET, HEAD';

/** Headers that belong to a code. Challenges are those of RFC 6750, section 3: no `error` where nothing was brought. */
const HEADERS: { readonly [code in ErrorCode]?: readonly [string, string] } = {
  credential_missing: ['WWW-Authenticate', 'Bearer'],
  credential_malformed: ['WWW-Authenticate', invalidToken('credential_malformed')],
  credential_rejected: ['WWW-Authenticate', invalidToken('credential_rejected')],
  access_denied: ['WWW-Authenticate', 'Bearer error="insufficient_scope"'],
};

/**
 * The response to a request that failed: a problem body (RFC 9457) made of the error's row and of what the place that
 * threw says to callers. Neither `reason` nor `cause` nor stack enters it.
 */
export function problemResponse(error: GatewayError, requestId: string): HttpResponse {
  const { code, title, status, detail, upstream, retryAfterSeconds, allow = ALLOW } = error;
  const headers = ['Content-Type', 'application/problem+json', 'Cache-Control', 'no-store', ...(HEADERS[code] ?? [])];
  if (code === 'method_not_allowed') headers.push('Allow', allow);
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds));
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

function invalidToken(code: ErrorCode): string {
  return `Bearer error="invalid_token", error_description="${ERRORS[code].detail}"`;
}
