import { gatewayErrorIn, oauthCodeIn } from '../../core/credentials/oauth-server.ts';
import { ASK_FOR_TOKEN, type ErrorCode } from '../../core/kernel/error-table.ts';
import { GatewayError } from '../../core/kernel/errors.ts';

/** Kind of request, and status of its response; 0 without one. */
interface GrantStep {
  readonly what: 'metadata' | 'token';
  readonly status: number;
  /** Whether the token is for one caller, whose own token a refusal may be about. */
  readonly perCaller: boolean;
}

/** OAuth codes about the caller's token or its owner's rights (RFC 6749, section 5.2). All others concern Portico. */
const OF_CALLERS: ReadonlyMap<string, ErrorCode> = new Map([
  ['invalid_grant', 'credential_rejected'],
  ['invalid_request', 'credential_rejected'],
  ['interaction_required', 'credential_rejected'],
  ['login_required', 'credential_rejected'],
  ['access_denied', 'access_denied'],
  ['consent_required', 'access_denied'],
  ['insufficient_scope', 'access_denied'],
]);

/** Codes that are logged. Others are not: a server might repeat a token. */
const OF_PORTICO: readonly string[] = [
  ...['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope', 'invalid_target'],
];

const OF_SERVER: readonly string[] = ['server_error', 'temporarily_unavailable'];

/** Detail for callers; otherwise the row's. */
const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  credential_rejected: `The authorization server of this platform rejected this access token. ${ASK_FOR_TOKEN}`,
  access_denied: 'The authorization server of this platform does not issue this caller a token for it.',
  upstream_credential_rejected:
    'The authorization server of this platform rejected Portico as its client, or the parameters of its request. The operator of Portico has to correct this.',
  upstream_failed: 'The authorization server of this platform did not answer. Trying again may help.',
  upstream_timeout: 'The authorization server of this platform did not answer in time. Trying again may help.',
  upstream_invalid:
    'The authorization server of this platform returned no usable token. Trying again is unlikely to help.',
  upstream_refused:
    'The authorization server of this platform has no endpoint at the configured address. The operator of Portico has to correct this.',
  upstream_rate_limited:
    'The authorization server of this platform limits the rate of requests. Try again after Retry-After.',
  breaker_open:
    'The authorization server of this platform failed repeatedly and is not called for a while. Try again after Retry-After.',
};

/** RFC 8693, section 2.2.2 uses one code for a rejected subject token and for a malformed request. */
const OF_EITHER = `The authorization server of this platform rejected this access token or the form of the request. ${ASK_FOR_TOKEN} If that one is rejected as well, the operator of Portico has to correct this.`;

/** An error of the table about a server other than the upstream, which was not called. */
export function failedGrant(
  code: ErrorCode,
  reason: string,
  rest: { cause?: unknown; retryAfterSeconds?: number; detail?: string; countsForBreaker?: boolean } = {},
) {
  const { detail = DETAILS[code] } = rest;
  return new GatewayError(code, { ...rest, ...(detail !== undefined && { detail }), reason, dependencyFailed: true });
}

/** Converts an error of openid-client. It is not kept as the cause, because it contains the server's reply with tokens. */
export function errorOfGrant(error: unknown, { what, status, perCaller }: GrantStep): GatewayError {
  const ours = gatewayErrorIn(error);
  if (ours?.dependencyFailed === true) return ours;
  if (ours !== undefined) {
    const { code, reason, retryAfterSeconds, countsForBreaker } = ours;
    const rest = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), countsForBreaker, cause: ours };
    return failedGrant(code, `authorization server: ${reason}`, rest);
  }
  const oauthCode = what === 'token' ? oauthCodeOf(error) : undefined;
  if (oauthCode !== undefined) return refusal(oauthCode, perCaller);
  const client = status === 401 || status === 403;
  if (what === 'token' && client) {
    return failedGrant('upstream_credential_rejected', `authorization server: status ${status}, without a code`);
  }
  const where = what === 'token' ? 'the token endpoint' : 'metadata';
  const code = oauthCodeIn(error);
  if (status === 0) return failedGrant('upstream_invalid', `authorization server: ${where} cannot be called${code}`);
  return status >= 200 && status < 300
    ? failedGrant('upstream_invalid', `authorization server: no response of ${where}${code}`)
    : failedGrant('upstream_refused', `authorization server: status ${status} in place of ${where}`);
}

function refusal(oauthCode: string, perCaller: boolean): GatewayError {
  const code = perCaller ? OF_CALLERS.get(oauthCode) : undefined;
  const reason = `authorization server: refused the subject token (${oauthCode})`;
  if (perCaller && oauthCode === 'invalid_request')
    return failedGrant('credential_rejected', reason, { detail: OF_EITHER });
  if (code !== undefined) return failedGrant(code, reason);
  if (OF_SERVER.includes(oauthCode)) {
    return failedGrant('upstream_failed', `authorization server: ${oauthCode}`, { countsForBreaker: true });
  }
  const named = OF_PORTICO.includes(oauthCode) ? oauthCode : 'another code';
  return failedGrant('upstream_credential_rejected', `authorization server: refused Portico (${named})`);
}

/** Returns the code of an OAuth error response (RFC 6749, section 5.2). */
function oauthCodeOf(error: unknown): string | undefined {
  const hasCode = error instanceof Error && error.name === 'ResponseBodyError' && 'error' in error;
  return hasCode && typeof error.error === 'string' ? error.error : undefined;
}
