import { gatewayErrorIn, oauthCodeIn, oauthError } from '../../core/credentials/oauth-server.ts';
import { obtainError } from '../../core/credentials/obtained-tokens.ts';
import { ERRORS, type ErrorCode } from '../../core/kernel/error-table.ts';
import type { GatewayError } from '../../core/kernel/errors.ts';

/** Kind of request, and status of its response; 0 without one. */
interface GrantStep {
  readonly what: 'metadata' | 'call';
  readonly status: number;
  /** Whether the token is for one caller, whose own token a refusal may be about. */
  readonly perCaller: boolean;
}

/**
 * The error for each OAuth code (RFC 6749, section 5.2). RFC 8693, section 2.2.2 has `invalid_request` for a rejected subject token,
 * too. Other codes concern Portico, and are not logged: a server might repeat a token.
 */
const CODES = new Map<string, ErrorCode>([
  ['invalid_grant', 'credential_rejected'],
  ['invalid_request', 'credential_rejected'],
  ['interaction_required', 'credential_rejected'],
  ['login_required', 'credential_rejected'],
  ['access_denied', 'access_denied'],
  ['consent_required', 'access_denied'],
  ['insufficient_scope', 'access_denied'],
  ['invalid_client', 'upstream_credential_rejected'],
  ['unauthorized_client', 'upstream_credential_rejected'],
  ['unsupported_grant_type', 'upstream_credential_rejected'],
  ['invalid_scope', 'upstream_credential_rejected'],
  ['invalid_target', 'upstream_credential_rejected'],
  ['server_error', 'upstream_failed'],
  ['temporarily_unavailable', 'upstream_failed'],
]);

/** Converts an error of openid-client. It is not kept as the cause, because it contains the server's reply with tokens. */
export function errorOfGrant(error: unknown, { what, status, perCaller }: GrantStep): GatewayError {
  const ours = gatewayErrorIn(error);
  if (ours !== undefined) return ours;
  const oauthCode = what === 'call' ? oauthError(error) : undefined;
  if (oauthCode !== undefined) return refusal(oauthCode, perCaller);
  const client = status === 401 || status === 403;
  if (what === 'call' && client) {
    return obtainError('upstream_credential_rejected', `authorization server: status ${status}, without a code`);
  }
  const where = what === 'call' ? 'the token endpoint' : 'metadata';
  const code = oauthCodeIn(error);
  if (status === 0) return obtainError('upstream_invalid', `authorization server: ${where} cannot be called${code}`);
  return status >= 200 && status < 300
    ? obtainError('upstream_invalid', `authorization server: no response of ${where}${code}`)
    : obtainError('upstream_refused', `authorization server: status ${status} in place of ${where}`);
}

function refusal(oauthCode: string, perCaller: boolean): GatewayError {
  const code = CODES.get(oauthCode) ?? 'upstream_credential_rejected';
  const reason = `authorization server: refused (${CODES.has(oauthCode) ? oauthCode : 'another code'})`;
  if (code === 'upstream_failed') return obtainError(code, reason, { countsForBreaker: true });
  return perCaller && code !== 'upstream_credential_rejected'
    ? obtainError(code, reason, { detail: ERRORS[code].detail })
    : obtainError('upstream_credential_rejected', reason);
}
