import type { JWTPayload } from 'jose';
import { GatewayError } from '../../kernel/errors.ts';

/** What a token says, and is true as far as its issuer is believed. */
export type Claims = Readonly<JWTPayload>;

/** That a token is not taken, and why: words that go to whoever brings it. */
export function rejected(why: string): GatewayError {
  return new GatewayError('credential_rejected', {
    detail: `This access token is not accepted here: ${why}. Obtain a new one and try again.`,
    reason: why,
  });
}

/** That it cannot be found out whether a token is good. It must not read like a bad one. */
export function unavailable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('verifier_unavailable', { reason, cause });
}
