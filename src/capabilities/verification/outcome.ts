import { createRequire } from 'node:module';
import type { JWTPayload } from 'jose';
import type { Config } from '../../core/config/schema/settings.ts';
import { ASK_FOR_TOKEN } from '../../core/kernel/error-table.ts';
import { GatewayError } from '../../core/kernel/errors.ts';

export type VerificationSettings = NonNullable<Config['verification']>;

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

export function tooMany(): GatewayError {
  return new GatewayError('overloaded', {
    detail: 'Too many access tokens are being verified already. Try again after Retry-After.',
    bound: 'verification.maxVerifying',
  });
}

type Jose = typeof import('jose');

let loaded: Jose | undefined;

/** The package, loaded on first use, because that takes 20 ms. */
export function jose(): Jose {
  loaded ??= createRequire(import.meta.url)('jose') as Jose;
  return loaded;
}
