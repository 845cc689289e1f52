import type { GatewayError } from '../../kernel/errors.ts';
import { type Challenge, createChallenge } from './challenge.ts';
import type { HttpResponse } from './send.ts';

/** What `Allow` says where no path knows better: the methods of a read. */
const ALLOW = 'GET, HEAD';

const PLAIN_CHALLENGE = createChallenge();

/**
 * The response to a request that failed: a problem body (RFC 9457) made of the error's row and of what the place that
 * threw says to callers. Neither `reason` nor `cause` nor stack enters it.
 */
export function problemResponse(
  error: GatewayError,
  requestId: string,
  challenge: Challenge = PLAIN_CHALLENGE,
): HttpResponse {
  const { code, title, status, detail, upstream, retryAfterSeconds, allow = ALLOW } = error;
  const headers = ['Content-Type', 'application/problem+json', 'Cache-Control', 'no-store'];
  const challenged = challenge(error);
  if (challenged !== undefined) headers.push('WWW-Authenticate', challenged);
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
