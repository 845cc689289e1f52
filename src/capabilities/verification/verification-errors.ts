import { createRequire } from 'node:module';
import type { JWTPayload } from 'jose';
import type { Config } from '../../core/config/schema/settings.ts';
import { gatewayErrorIn, oauthCodeIn } from '../../core/credentials/oauth-server.ts';
import { type Caller, Credential, newRequestId } from '../../core/kernel/caller.ts';
import { ASK_FOR_TOKEN } from '../../core/kernel/error-table.ts';
import { GatewayError } from '../../core/kernel/errors.ts';

export type VerificationConfig = NonNullable<Config['verification']>;

/** Claims of a token, as true as its issuer is trusted. */
export type Claims = Readonly<JWTPayload>;

/** Returns the rejection of a token, with a reason for its sender. */
export function rejected(why: string): GatewayError {
  return new GatewayError('credential_rejected', {
    detail: `This access token is not accepted here: ${why}. ${ASK_FOR_TOKEN}`,
    reason: why,
  });
}

/** The error for a token that could not be checked. `cause` may contain a retry time. */
export function unavailable(reason: string, cause?: unknown): GatewayError {
  const retryAfterSeconds = cause instanceof GatewayError ? cause.retryAfterSeconds : undefined;
  return new GatewayError('verifier_unavailable', {
    reason,
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** The issuer's failure, from an error of openid-client or of the client under it. `status`: of its reply, 0 without one. */
export function issuerError(error: unknown, status: number): GatewayError {
  const ours = gatewayErrorIn(error);
  if (ours?.code === 'verifier_unavailable') return ours;
  if (ours !== undefined) return unavailable(`the issuer: ${ours.reason ?? ours.code}`, ours);
  const what = status === 0 ? 'cannot be called' : `gave no usable answer with status ${status}`;
  return unavailable(`the issuer ${what}${oauthCodeIn(error)}`);
}

/** Results are shared by all who send the same token, so that requests are on behalf of no caller. */
export const NO_CALLER: Caller = {
  ...{ credential: new Credential(''), credentialKey: '', cacheScope: '', requestId: newRequestId() },
};

type Jose = typeof import('jose');

let loaded: Jose | undefined;

/** The package, loaded on first use, because that takes 20 ms. */
export function jose(): Jose {
  loaded ??= createRequire(import.meta.url)('jose') as Jose;
  return loaded;
}
