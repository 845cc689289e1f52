import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import { type Claims, jose, rejected, unavailable, type VerificationSettings } from './verification-errors.ts';

export interface SignedTokenOptions extends Pick<VerificationSettings, 'issuer' | 'type' | 'leewayMs'> {
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

const UNFIT: Readonly<Record<string, string>> = {
  aud: 'it is not for this server',
  iss: 'another issuer issued it',
  exp: 'it does not say when it ends',
  nbf: 'it is not good yet',
  typ: 'it is no access token',
};

function rejectionOf(error: unknown): GatewayError {
  const { errors } = jose();
  if (error instanceof errors.JWTExpired) return rejected('it has expired');
  if (error instanceof errors.JWTClaimValidationFailed)
    return rejected(UNFIT[error.claim] ?? 'its claims are malformed');
  if (error instanceof errors.JWKSNoMatchingKey) return rejected('no key of its issuer fits it');
  // OpenID Connect Core, 10.1 requires a `kid` among several.
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return rejected('it does not name the key that it is signed with, and its issuer has several');
  if (error instanceof errors.JWSSignatureVerificationFailed) return rejected('its signature is wrong');
  if (error instanceof errors.JOSEAlgNotAllowed) return rejected('it is signed with another algorithm than may be');
  if (error instanceof errors.JOSEError) return rejected(NO_JWT);
  // An unusable key: the caller cannot correct that.
  return unavailable('a key of the issuer is unusable', error);
}
