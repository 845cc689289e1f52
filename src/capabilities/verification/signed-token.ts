import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import { type Claims, jose, rejected, unavailable, type VerificationConfig } from './verification-errors.ts';

export interface SignedTokenOptions extends Pick<VerificationConfig, 'issuer' | 'type' | 'leewayMs'> {
  readonly audience: string | readonly string[];
  readonly findKey: JWTVerifyGetKey;
  readonly now: () => number;
}

/** Algorithms with which a verifier cannot sign (RFC 7518, section 3.1; RFC 8037; RFC 9864). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Verifies JWTs. Rejects with `credential_rejected`, or with `verifier_unavailable` if undecided. */
export function createVerifySigned(options: SignedTokenOptions): (token: string) => Promise<Claims> {
  const { jwtVerify } = jose();
  const { issuer, audience, type, leewayMs, findKey, now } = options;
  const fixed: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: ALGORITHMS,
    clockTolerance: leewayMs / 1000,
    requiredClaims: ['exp'],
    ...(type !== undefined && { typ: type }),
  };

  return async (token) => {
    if (!token.split('.').every(isCanonical)) throw rejected(NO_JWT);
    try {
      return (await jwtVerify(token, findKey, { ...fixed, currentDate: new Date(now()) })).payload;
    } catch (error) {
      throw error instanceof GatewayError ? error : rejectionOf(error);
    }
  };
}

/** jose ignores unused bits of the last character (RFC 4648, 3.5): one token would have 16 spellings, each with its own limits. */
function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

const NO_JWT = 'it is no well-formed JWT';

/** By jose's code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JWKS_NO_MATCHING_KEY: 'no key of its issuer fits it',
  // OpenID Connect Core, 10.1 requires a `kid` among several.
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'it does not name the key that it is signed with, and its issuer has several',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  ERR_JOSE_ALG_NOT_ALLOWED: 'it is signed with another algorithm than may be',
};

function rejectionOf(error: unknown): GatewayError {
  const { JOSEError, JWTClaimValidationFailed } = jose().errors;
  // An unusable key: the caller cannot correct that.
  if (!(error instanceof JOSEError)) return unavailable('a key of the issuer is unusable', error);
  if (error instanceof JWTClaimValidationFailed) return rejected(`its ${error.claim} is missing or not accepted`);
  return rejected(REASONS[error.code] ?? NO_JWT);
}
