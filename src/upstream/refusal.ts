import { type ErrorCode, GatewayError } from '../kernel/errors.ts';
import { retryAfterSeconds } from './retry-after.ts';
import type { ReplyHeaders } from './upstream.ts';

/** Statuses that speak of a passing state, so that asking again may help (RFC 9110, section 15.6). */
const PASSING: readonly number[] = [502, 503, 504];

/**
 * What a status other than 200 and 203 means for the read. `callersOwn` tells whose business a refused credential
 * is: the caller's, or that of Portico's operator. `undefined` for a status that brings a page.
 */
export function refusal(status: number, headers: ReplyHeaders, callersOwn: boolean): GatewayError | undefined {
  if (status === 200 || status === 203) return undefined;
  const passing = PASSING.includes(status);
  const wait = passing || status === 429 ? retryAfterSeconds(headers['retry-after'], Date.now()) : undefined;
  return new GatewayError(refusalCode(status, callersOwn), {
    reason: `answered with status ${status}`,
    upstreamStatus: status,
    fault: status >= 500,
    ...(passing && { retryable: 'status' as const }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  });
}

function refusalCode(status: number, callersOwn: boolean): ErrorCode {
  if (status === 401) return callersOwn ? 'credential_rejected' : 'upstream_credential_rejected';
  if (status === 403) return callersOwn ? 'access_denied' : 'upstream_credential_rejected';
  if (status === 429) return 'upstream_rate_limited';
  // A success that brings something else than the whole page: 204, 206 and the like.
  if (status >= 200 && status < 300) return 'upstream_invalid';
  return 'upstream_failed';
}
