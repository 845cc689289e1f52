import type { JWTPayload } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';

/** What a token says, and is true as far as its issuer is believed. */
export type Claims = Readonly<JWTPayload>;

/** That a token is not taken, and why: words that go to whoever brings it. */
export function rejected(why: string): GatewayError {
  return new GatewayError('credential_rejected', {
    detail: `This access token is not accepted here: ${why}. Obtain a new one and try again.`,
    reason: why,
  });
}

/**
 * That it cannot be found out whether a token is good. It must not read like a bad one. Whoever knows when to come again says
 * so in `cause`.
 */
export function unavailable(reason: string, cause?: unknown): GatewayError {
  const retryAfterSeconds = cause instanceof GatewayError ? cause.retryAfterSeconds : undefined;
  return new GatewayError('verifier_unavailable', {
    reason,
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** That so many tokens are being verified already. */
export function tooMany(): GatewayError {
  return new GatewayError('overloaded', {
    detail: 'Too many access tokens are being verified already. Try again after Retry-After.',
    reason: 'verification.maxVerifying is reached',
    bound: 'verification.maxVerifying',
  });
}
