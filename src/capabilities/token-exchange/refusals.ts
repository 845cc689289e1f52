import { gatewayErrorIn, oauthCodeIn } from '../../core/credentials/oauth-server.ts';
import { obtainError } from '../../core/credentials/obtained-tokens.ts';
import { ASK_FOR_TOKEN } from '../../core/kernel/error-table.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';

/** Kind of request, and status of its response; 0 without one. */
interface GrantStep {
  readonly what: 'metadata' | 'token';
  readonly status: number;
  /** Whether the token is for one caller, whose own token a refusal may be about. */
  readonly perCaller: boolean;
}

/** RFC 8693, section 2.2.2 uses one code for a rejected subject token and for a malformed request. */
const REJECTED = {
  code: 'credential_rejected',
  detail: `The authorization server of this platform rejected this access token, or the form of the request. ${ASK_FOR_TOKEN} If that one is rejected as well, the operator of Portico has to correct this.`,
} as const;
const DENIED = {
  code: 'access_denied',
  detail: 'The authorization server of this platform does not issue this caller a token for it.',
} as const;

/** OAuth codes about the caller's token or its owner's rights (RFC 6749, section 5.2). All others concern Portico. */
const OF_CALLERS = new Map<string, typeof REJECTED | typeof DENIED>([
  ...['invalid_grant', 'invalid_request', 'interaction_required', 'login_required'].map(
    (code) => [code, REJECTED] as const,
  ),
  ...['access_denied', 'consent_required', 'insufficient_scope'].map((code) => [code, DENIED] as const),
]);

/** Codes that are logged. Others are not: a server might repeat a token. */
const OF_PORTICO: readonly string[] = [
  ...['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope', 'invalid_target'],
];

const OF_SERVER: readonly string[] = ['server_error', 'temporarily_unavailable'];

/** Converts an error of openid-client. It is not kept as the cause, because it contains the server's reply with tokens. */
export function errorOfGrant(error: unknown, { what, status, perCaller }: GrantStep): GatewayError {
  const ours = gatewayErrorIn(error);
  if (ours !== undefined) return ours;
  const oauthCode = what === 'token' ? oauthCodeOf(error) : undefined;
  if (oauthCode !== undefined) return refusal(oauthCode, perCaller);
  const client = status === 401 || status === 403;
  if (what === 'token' && client) {
    return obtainError('upstream_credential_rejected', `authorization server: status ${status}, without a code`);
  }
  const where = what === 'token' ? 'the token endpoint' : 'metadata';
  const code = oauthCodeIn(error);
  if (status === 0) return obtainError('upstream_invalid', `authorization server: ${where} cannot be called${code}`);
  return status >= 200 && status < 300
    ? obtainError('upstream_invalid', `authorization server: no response of ${where}${code}`)
    : obtainError('upstream_refused', `authorization server: status ${status} in place of ${where}`);
}

function refusal(oauthCode: string, perCaller: boolean): GatewayError {
  const { code, detail = '' } = (perCaller && OF_CALLERS.get(oauthCode)) || {};
  if (code !== undefined) {
    return obtainError(code, `authorization server: refused the subject token (${oauthCode})`, { detail });
  }
  if (OF_SERVER.includes(oauthCode)) {
    return obtainError('upstream_failed', `authorization server: ${oauthCode}`, { countsForBreaker: true });
  }
  const named = OF_PORTICO.includes(oauthCode) ? oauthCode : 'another code';
  return obtainError('upstream_credential_rejected', `authorization server: refused Portico (${named})`);
}

/** Returns the code of an OAuth error response (RFC 6749, section 5.2). */
function oauthCodeOf(error: unknown): string | undefined {
  const hasCode = error instanceof Error && error.name === 'ResponseBodyError' && 'error' in error;
  return hasCode && typeof error.error === 'string' ? error.error : undefined;
}
